/**
 * Layers, lowest first. A file may import from its own layer and from the layers listed for it.
 */
const layers = {
  'src/core': [],
  'src/outgoing': ['src/core'],
  'src/features': ['src/core'],
  'src/plugin-kit': ['src/core'],
  'src/http': ['src/core'],
  'src/dashboard': ['src/core', 'src/http'],
  'src/testing': ['src/core'],
  'src/template-files': ['src/core', 'src/features'],
  'src/webhook-receiver': ['src/core'],
  'src/client': ['src/core', 'src/features'],
  'src/cli': [
    'src/core',
    'src/http',
    'src/client',
    'src/dashboard',
    'src/template-files',
    'src/testing',
    'adapters/http',
    'adapters/dev-mailbox',
    'adapters/storage',
  ],
  'adapters/http': ['src/core', 'src/http'],
  'adapters/peer': ['src/core'],
  'adapters/storage': ['src/core', 'adapters/peer'],
  'adapters/rate-limit': ['src/core', 'adapters/peer'],
  'adapters/queue': ['src/core', 'adapters/peer'],
  'adapters/channels': ['src/core', 'src/outgoing', 'adapters/peer'],
  'adapters/dev-mailbox': ['src/core', 'src/http', 'src/dashboard', 'adapters/channels', 'adapters/peer'],
  'adapters/telemetry': ['src/core', 'adapters/peer'],
  'adapters/markup': ['src/core', 'adapters/peer'],
}

/**
 * The composition: sees everything in src/. Besides itself, only the doors see it: what applications mount, and tools over
 * their notifier.
 */
const root = '^src/[a-z-]+\\.ts$'
/** They mount a notifier, or work over one: they also see the composition, and features through their index. */
const doors = [
  'src/dashboard',
  'src/testing',
  'src/template-files',
  'src/client',
  'src/cli',
  'adapters/http',
  'adapters/dev-mailbox',
]
const ours = '^(src|adapters)/'
const inLayers = Object.keys(layers).map((layer) => `^${layer}/`)
const npm = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-bundled', 'npm-no-pkg', 'npm-unknown']

/** Types of a package count as that package. */
const packages = (...names) => names.map((name) => `node_modules/(@types/)?${name}/`)

module.exports = {
  forbidden: [
    ...Object.entries(layers).map(([layer, allowed]) => ({
      name: `layer:${layer}`,
      severity: 'error',
      from: { path: `^${layer}/` },
      to: {
        path: ours,
        pathNot: [
          ...[layer, ...allowed].map((to) => `^${to}/`),
          ...(doors.includes(layer) ? [root, '^src/features/[^/]+/index\\.ts$'] : []),
        ],
      },
    })),
    {
      name: 'feature-through-its-index',
      comment: 'A feature sees others through their index.ts.',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/' },
      to: {
        path: '^src/features/',
        pathNot: ['^src/features/$1/', '^src/features/[^/]+/index\\.ts$'],
      },
    },
    {
      name: 'layer:root',
      comment:
        'Nothing in src/ imports adapters/ but the default storage, and what loads packages for texts.',
      severity: 'error',
      from: { path: root, pathNot: '^src/create-notifier\\.ts$' },
      to: { path: '^adapters/' },
    },
    {
      name: 'layer:root',
      severity: 'error',
      from: { path: '^src/create-notifier\\.ts$' },
      to: { path: '^adapters/', pathNot: '^adapters/(storage/sqlite|markup)/index\\.ts$' },
    },
    {
      name: 'no-unknown-layer',
      comment: 'A new folder needs a line in the table of layers.',
      severity: 'error',
      from: { path: ours, pathNot: [root, ...inLayers] },
      to: {},
    },
    {
      name: 'no-import-of-unknown-layer',
      severity: 'error',
      from: {},
      to: { path: ours, pathNot: [root, ...inLayers] },
    },
    {
      name: 'no-import-from-outside',
      comment: 'Not the tests, not the build, not the package by its own name.',
      severity: 'error',
      from: { path: ours },
      to: { pathNot: [ours, 'node_modules/'], dependencyTypesNot: ['core'] },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true }, to: {} },
    {
      name: 'ports-without-packages',
      severity: 'error',
      from: { path: '^src/core/ports/' },
      to: { dependencyTypes: ['core', ...npm] },
    },
    {
      name: 'src-packages',
      comment: 'Runtime dependencies only: importing the core loads no peer and nothing of the development.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: npm,
        pathNot: packages(
          'eventemitter3',
          'p-queue',
          'libphonenumber-js',
          'mustache',
          'validator',
          'zod',
          'intl-messageformat',
          '@formatjs/intl-localematcher',
        ),
      },
    },
    {
      name: 'webhook-receiver-stays-small',
      comment: 'What receives webhooks loads the error catalogue and node:crypto; of the rest only types.',
      severity: 'error',
      from: { path: '^src/webhook-receiver/' },
      to: {
        pathNot: ['^src/(?!core/)', '^adapters/', '^src/core/errors/', '^(node:)?crypto$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'client-stays-small',
      comment: 'The client loads nothing else; of the rest it has types.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'command-line-starts-light',
      comment: 'The command line loads the rest when a command needs it: its help comes at once.',
      severity: 'error',
      // Its build replaces this one by data.
      from: { path: '^src/cli/', pathNot: '^src/cli/built-in\\.ts$' },
      to: {
        pathNot: ['^src/cli/(?!built-in)', '^src/core/(lifecycle/version|input/nearest-name)\\.ts$'],
        dynamic: false,
        dependencyTypesNot: ['type-only', 'core'],
      },
    },
    {
      name: 'adapters-without-development-packages',
      severity: 'error',
      from: { path: '^adapters/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm', 'npm-peer'],
        pathNot: 'node_modules/@types/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.lib.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
