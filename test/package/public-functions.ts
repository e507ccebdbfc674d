import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { entries, fromRoot } from '../../scripts/entries.mjs'

/** A function or method that users of the package call. */
export interface PublicFunction {
  /** Such as `smtp` or `Suppressions.add`. */
  readonly name: string
  /** The entry point that exports it. */
  readonly from: string
  /** The file and line of its declaration. */
  readonly at: string
  /** The code of its `@example` tags. */
  readonly examples: readonly string[]
}

/** The functions that the entry points of the package export, and the methods of a notifier and of an organization. */
export function publicFunctions(): PublicFunction[] {
  const exported = entries().flatMap(({ specifier, source }) => exportsOf(source, specifier))
  const methods = globSync(['src/{core,features}/*/api.ts', 'src/{notifier,tenant}.ts'], {
    cwd: fromRoot('.'),
  })
  return merged([...exported, ...methods.sort().flatMap(methodsOf)])
}

/** One of the overloads of a function, which may have the example, and of the entry points that export it. */
function merged(all: readonly PublicFunction[]): PublicFunction[] {
  const found = new Map<string, PublicFunction>()
  for (const each of all) {
    const id = `${each.at.replace(/:.*/, '')} ${each.name}`
    if ((found.get(id)?.examples.length ?? 0) === 0) found.set(id, each)
  }
  return [...found.values()]
}

const files = new Map<string, ts.SourceFile>()

function parsed(file: string): ts.SourceFile {
  const known = files.get(file)
  if (known !== undefined) return known
  const text = readFileSync(fromRoot(file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  files.set(file, source)
  return source
}

function exportsOf(file: string, from: string): PublicFunction[] {
  return parsed(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return reExported(file, from, statement)
    return isExported(statement) ? functionsOf(file, from, statement) : []
  })
}

function reExported(
  file: string,
  from: string,
  { exportClause, isTypeOnly, moduleSpecifier }: ts.ExportDeclaration,
): PublicFunction[] {
  if (isTypeOnly || exportClause === undefined || !ts.isNamedExports(exportClause)) return []
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
  const exported = exportsOf(join(dirname(file), moduleSpecifier.text), from)
  return exportClause.elements.flatMap(({ isTypeOnly, propertyName, name }) => {
    if (isTypeOnly) return []
    const inside = (propertyName ?? name).text
    return exported.filter((each) => each.name === inside).map((each) => ({ ...each, name: name.text }))
  })
}

function functionsOf(file: string, from: string, statement: ts.Statement): PublicFunction[] {
  if (ts.isFunctionDeclaration(statement))
    return [described(file, from, statement, statement.name?.text ?? '')]
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer !== undefined && ts.isFunctionLike(initializer))
    .map((declaration) => described(file, from, statement, declaration.name.getText()))
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}

function methodsOf(file: string): PublicFunction[] {
  return parsed(file)
    .statements.filter(ts.isInterfaceDeclaration)
    .filter(isExported)
    .flatMap(({ name, members }) =>
      members
        .filter(isMethod)
        .map((member) => described(file, 'carillon', member, `${name.text}.${member.name.getText()}`)),
    )
}

function isMethod(member: ts.TypeElement): member is ts.MethodSignature | ts.PropertySignature {
  if (ts.isMethodSignature(member)) return true
  return ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type)
}

function described(file: string, from: string, node: ts.Node, name: string): PublicFunction {
  const { line } = parsed(file).getLineAndCharacterOfPosition(node.getStart())
  const examples = ts
    .getJSDocTags(node)
    .filter(({ tagName }) => tagName.text === 'example')
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
  return { name, from, at: `${file.replaceAll('\\', '/')}:${line + 1}`, examples }
}

/** The files that declare what examples use: `every.ts`, and one for those of a single entry point. */
const CONTEXT = 'test/package/example-context'

/** Each example as a module that imports what it does not declare, and the modules of the context. */
export function exampleModules(): { readonly name: string; readonly code: string }[] {
  const exported = exportedNames()
  const examples = publicFunctions().flatMap((each) => {
    const contexts = [`${each.from.replace('carillon/', '')}.ts`, 'every.ts'].filter((file) =>
      existsSync(fromRoot(`${CONTEXT}/${file}`)),
    )
    const sourceOf = (name: string): string | undefined => {
      if (name === each.name) return each.from
      const context = contexts.find((file) => declaredIn(`${CONTEXT}/${file}`).has(name))
      return context === undefined ? exported.get(name) : `./example-context/${context}`
    }
    return each.examples.map((example, index) => {
      const imports = freeNames(example).flatMap((name) => {
        const from = sourceOf(name)
        return from === undefined
          ? []
          : [`import { ${/^[A-Z]/.test(name) ? 'type ' : ''}${name} } from '${from}'`]
      })
      const file = `${`${each.at}-${each.name}-${index}`.replace(/\W+/g, '-')}.ts`
      return { name: file, code: [example, ...imports, 'export {}', ''].join('\n') }
    })
  })
  const contexts = globSync(`${CONTEXT}/*.ts`, { cwd: fromRoot('.') }).map((file) => ({
    name: `example-context/${file.replace(/^.*[\\/]/, '')}`,
    code: readFileSync(fromRoot(file), 'utf8'),
  }))
  return [...examples, ...contexts]
}

/** The entry point of each exported name; the first one, where several export it. */
function exportedNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const list = readFileSync(fromRoot('test/package/exports.txt'), 'utf8')
  for (const entry of list.trim().split('\n\n')) {
    const [specifier = '', ...lines] = entry.split('\n')
    for (const line of lines) {
      const name = line.trim().replace(/^type /, '')
      if (!names.has(name)) names.set(name, specifier)
    }
  }
  return names
}

function declaredIn(file: string): ReadonlySet<string> {
  const names = parsed(file).statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? '']
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText())
    const { exportClause } = statement as ts.ExportDeclaration
    return exportClause !== undefined && ts.isNamedExports(exportClause)
      ? exportClause.elements.map(({ name }) => name.text)
      : []
  })
  return new Set(names)
}

/** The names that a program uses and does not declare. */
function freeNames(code: string): string[] {
  const [used, declared] = [new Set<string>(), new Set<string>()]
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      if (isDeclared(node)) declared.add(node.text)
      else if (!isMember(node)) used.add(node.text)
    }
    node.forEachChild(visit)
  }
  visit(ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest, true))
  return [...used].filter((name) => !declared.has(name))
}

function isDeclared(name: ts.Identifier): boolean {
  const { parent } = name
  const declares =
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isImportSpecifier(parent)
  return declares && parent.name === name
}

/** Whether it names a member of an object. */
function isMember(name: ts.Identifier): boolean {
  const { parent } = name
  const isName =
    ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)
  return (isName && parent.name === name) || (ts.isBindingElement(parent) && parent.propertyName === name)
}
