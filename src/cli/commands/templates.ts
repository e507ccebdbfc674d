import { resolve } from 'node:path'
import type { LintFinding } from '../../features/lint/index.ts'
import type { Step } from '../../template-files/push.ts'
import type { FileTemplate, TemplateFiles } from '../../template-files/texts.ts'
import type { Call, Run } from '../command.ts'
import { EXIT, type ExitCode, failureOf } from '../exit.ts'
import { withService } from '../service.ts'
import { confirm, note, plain, print, styled, type Terminal } from '../terminal.ts'
import { counted } from './notifications.ts'

const NAMES = { partial: 'partial', layout: 'layout', messages: 'messages of', template: 'template' } as const

function folderOf({ terminal, flags }: Call): string {
  return resolve(terminal.cwd, flags.positionals[0] ?? 'templates')
}

export const pull: Run = (call) =>
  withService(call, async ({ client }) => {
    const { terminal, flags } = call
    const { pullSteps } = await import('../../template-files/pull.ts')
    const found = await pullSteps(client, folderOf(call), { delete: flags.on('delete') })
    const steps = found.filter(({ action }) => action !== 'unchanged')
    const replaced = steps.filter(({ action }) => action !== 'create').flatMap(({ changes }) => changes)
    if (flags.on('dry-run') || steps.length === 0) return show(call, steps)
    if (replaced.length > 0) {
      for (const file of replaced) note(terminal, plain(file))
      await confirm(terminal, `Replace or remove ${counted(replaced.length, 'file')}?`, flags.on('yes'))
    }
    return perform(call, steps)
  })

export const push: Run = (call) =>
  withService(call, async ({ client }) => {
    const { terminal, flags } = call
    const [{ readTemplates }, { pushSteps }, { storedTexts }] = await modules()
    const files = await readTemplates(folderOf(call))
    const draft = flags.on('draft')
    const stored = await storedTexts(client, draft)
    const found = pushSteps(client, files, stored, { draft, delete: flags.on('delete') })
    const steps = found.filter(({ action }) => action !== 'unchanged' && action !== 'omitted')
    for (const step of found)
      if (step.action === 'omitted') note(terminal, `${nameOf(step)} can have no draft and is left out.`)
    if (!flags.on('json')) await printDiff(terminal, stored, files, steps)
    if (flags.on('dry-run') || steps.length === 0) return show(call, steps)
    await confirm(
      terminal,
      `${draft ? 'Save drafts of' : 'Store'} ${counted(steps.length, 'text')}?`,
      flags.on('yes'),
    )
    return perform(call, steps)
  })

export const diff: Run = (call) =>
  withService(call, async ({ client }) => {
    const { terminal, flags } = call
    const [{ readTemplates }, { pushSteps }, { storedTexts }] = await modules()
    const files = await readTemplates(folderOf(call))
    const stored = await storedTexts(client)
    const steps = pushSteps(client, files, stored, { delete: true }).filter(
      ({ action }) => action !== 'unchanged',
    )
    if (flags.on('json')) await show(call, steps)
    else await printDiff(terminal, stored, files, steps)
    return steps.length > 0 ? EXIT.failed : EXIT.done
  })

export const lint: Run = (call) => (call.flags.on('stored') ? lintStored(call) : lintFiles(call))

/** The answer of a lint, here and elsewhere. */
interface Lint {
  readonly findings: readonly Pick<
    LintFinding,
    'rule' | 'severity' | 'message' | 'field' | 'line' | 'source'
  >[]
  readonly complete: boolean
}

function lintStored(call: Call): Promise<ExitCode | undefined> {
  return withService(call, async ({ client }) => {
    let errors = 0
    for await (const { id, name } of client.templates.list({ limit: 100 }))
      errors += await printLint(call, name, () => client.templates.lint(id))
    return errors > 0 ? EXIT.failed : EXIT.done
  })
}

/** With their own layouts, partials and messages, in a notifier that nothing else sees. */
async function lintFiles(call: Call): Promise<ExitCode> {
  const [{ createNotifier }, { readTemplates }] = await Promise.all([
    import('../../create-notifier.ts'),
    import('../../template-files/read.ts'),
  ])
  const { templates, ...shared } = await readTemplates(folderOf(call))
  // A wrong layout, partial or message is refused here.
  const notifier = createNotifier({ channels: {}, ...shared })
  await notifier.start({ deliver: false })
  try {
    let errors = 0
    for (const [name, template] of Object.entries<FileTemplate>(templates))
      errors += await printLint(call, name, () => notifier.templates.lintDraft(draftOf(template)))
    return errors > 0 ? EXIT.failed : EXIT.done
  } finally {
    await notifier.stop()
  }
}

function draftOf({ description, category, metadata, body = '', html, text, ...fields }: FileTemplate) {
  if (html !== undefined) return { ...fields, html, text }
  return text === undefined ? { ...fields, body } : { ...fields, text }
}

/** Prints the findings of a template, and returns how many are errors. */
async function printLint({ terminal, flags }: Call, name: string, run: () => Promise<Lint>): Promise<number> {
  const { findings, complete } = await run().catch(refusal)
  for (const finding of findings) {
    const { rule, severity, message, field, line, source } = finding
    const place =
      source === undefined ? plain(name) : `${plain(name)} with the ${source.type} ${plain(source.name)}`
    const at = line === undefined ? plain(field) : `${plain(field)}, line ${line}`
    const mark = styled(severity === 'error' ? 'red' : 'yellow', severity.padEnd(7), terminal.stdout)
    const text = `${mark}  ${place} (${at}): ${plain(message)} [${plain(rule)}]`
    await print(terminal, flags.on('json') ? JSON.stringify({ template: name, ...finding }) : text)
  }
  if (!complete) note(terminal, `${plain(name)} may have more findings.`)
  return findings.filter(({ severity }) => severity === 'error').length
}

/** A template that is refused as a whole is a finding, and the others are checked. */
function refusal(error: unknown): Lint {
  const { code, details } = error as {
    readonly code?: unknown
    readonly details?: { readonly field?: unknown }
  }
  if (!/^(?:invalid_|missing_required_field)/.test(String(code))) throw error
  const { message } = failureOf(error)
  const field = String(details?.field ?? 'template')
  return { findings: [{ rule: 'invalid_template', severity: 'error', message, field }], complete: true }
}

function modules() {
  return Promise.all([
    import('../../template-files/read.ts'),
    import('../../template-files/push.ts'),
    import('../../template-files/target.ts'),
  ])
}

function nameOf({ kind, name }: Step): string {
  return `${NAMES[kind]} ${plain(name)}`
}

async function show({ terminal, flags }: Call, steps: readonly Step[]): Promise<undefined> {
  for (const step of steps) await print(terminal, lineOf(step, flags.on('json')))
  if (steps.length === 0) note(terminal, 'Nothing differs.')
}

function lineOf(step: Step, json: boolean): string {
  const { kind, name, action, changes } = step
  if (json) return JSON.stringify({ kind, name, action, changes })
  return `${action.padEnd(6)}  ${nameOf(step)}${changes.length === 0 ? '' : `: ${plain(changes.join(', '))}`}`
}

/** Stops at the first refusal, such as that of a text which has changed since it was shown. */
async function perform({ terminal, flags }: Call, steps: readonly Step[]): Promise<undefined> {
  for (const step of steps) {
    if (terminal.signal.aborted) return
    try {
      await step.run()
    } catch (error) {
      note(terminal, `The ${nameOf(step)} and what comes after it stay as they were.`)
      throw error
    }
    await print(terminal, lineOf(step, flags.on('json')))
  }
}

async function printDiff(
  terminal: Terminal,
  stored: TemplateFiles,
  files: TemplateFiles,
  steps: readonly Step[],
): Promise<void> {
  const { unifiedDiff } = await import('../../template-files/unified-diff.ts')
  const { stdout } = terminal
  for (const line of unifiedDiff(stored, files, steps)) {
    // Programs such as `patch` need the texts as they are.
    const safe = stdout.isTTY === true ? line.split('\t').map(plain).join('\t') : line
    await print(terminal, coloured(safe, stdout))
  }
}

function coloured(line: string, stdout: Terminal['stdout']): string {
  if (/^(?:---|\+\+\+) /.test(line)) return styled('bold', line, stdout)
  if (line.startsWith('@@')) return styled('dim', line, stdout)
  if (line.startsWith('+')) return styled('green', line, stdout)
  return line.startsWith('-') ? styled('red', line, stdout) : line
}
