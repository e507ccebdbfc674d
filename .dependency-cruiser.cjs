/** Layers, lowest first. A file may import from its own layer and from the layers listed for it. */
const layers = {
  'src/domain': [],
  'src/channels': ['src/domain'],
  'src/ports': ['src/domain', 'src/channels'],
  'src/addresses': [],
  'src/coalesce': [],
  'src/outgoing': ['src/domain', 'src/ports', 'src/addresses'],
  'src/services': ['src/domain', 'src/channels', 'src/ports', 'src/addresses', 'src/coalesce'],
  'src/http': ['src/domain', 'src/channels', 'src/ports', 'src/services', 'src/addresses', 'src/coalesce'],
  'src/dashboard': ['src/domain', 'src/services', 'src/http'],
  'src/limits': ['src/domain', 'src/ports'],
  'src/defaults': ['src/domain', 'src/ports', 'src/limits'],
  'src/testing': ['src/domain', 'src/channels', 'src/ports', 'src/defaults'],
  'src/template-files': ['src/domain', 'src/services'],
  'src/webhook-receiver': ['src/domain'],
  'adapters/http': ['src/domain', 'src/ports', 'src/services', 'src/http'],
  'adapters/peer': ['src/domain'],
  'adapters/storage': ['src/domain', 'src/ports', 'adapters/peer'],
  'adapters/rate-limit': ['src/domain', 'src/ports', 'src/limits', 'src/coalesce', 'adapters/peer'],
  'adapters/queue': ['src/domain', 'src/ports', 'adapters/peer'],
  'adapters/channels': ['src/domain', 'src/channels', 'src/ports', 'src/outgoing', 'adapters/peer'],
  'adapters/dev-mailbox': [
    'src/domain',
    'src/channels',
    'src/ports',
    'src/services',
    'src/http',
    'src/dashboard',
    'adapters/channels',
    'adapters/peer',
  ],
  'adapters/telemetry': ['src/domain', 'src/ports', 'adapters/peer'],
  'adapters/markup': ['src/domain', 'src/ports', 'adapters/peer'],
}

/** The composition root: sees everything in src/, and nothing but itself sees it. */
const root = '^src/(create-notifier|options|index)\\.ts$'
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
      to: { path: ours, pathNot: [layer, ...allowed].map((to) => `^${to}/`) },
    })),
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
      name: 'domain-without-core-modules',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'domain-packages',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: npm, pathNot: packages('libphonenumber-js', 'validator', 'zod') },
    },
    {
      name: 'ports-import-only-the-domain',
      severity: 'error',
      from: { path: '^src/ports/' },
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
        pathNot: ['^src/(?!domain/)', '^adapters/', '^src/domain/errors/', '^(node:)?crypto$'],
        dependencyTypesNot: ['type-only'],
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
