// The schema of a template file, which contains all facts about one kind of service.
import { z } from 'zod';
import { mounts, relations, serves, wait } from './template-relations.ts';

const texts = z.array(z.string());
const values = z.record(z.string(), z.unknown());
const kinds = z.enum(['string', 'number', 'integer', 'boolean', 'array', 'object']);
/** Name of an option that must be set and not false; `<key>.<option>` refers to another block. */
const condition = z.string().min(1);

export const optionFact = z.strictObject({
  type: z.union([kinds, z.array(kinds)]),
  values: texts.optional(),
  items: kinds.optional().describe('what a list holds; absent: anything'),
  minimum: z.number().optional(),
  pattern: z.string().optional(),
  secret: z.literal(true).optional(),
  graph: z
    .enum(['shown', 'read'])
    .optional()
    .describe('relations are read from it; shown: the answer about the dependency graph has it'),
  live: z.literal(true).optional().describe('a change acts at once'),
  selects: z
    .enum(['version', 'sources'])
    .optional()
    .describe('where it is set the service has a version of its own, or is built from sources'),
  selectsWith: z
    .string()
    .optional()
    .describe('an option without which it selects nothing; one that needs none wins over all others'),
  everywhere: z
    .literal(true)
    .optional()
    .describe('accepted in the block of every service, also of one without template'),
  help: z.string().optional().describe('an option with a help text can be offered by onboarding'),
});

const onboarding = z.strictObject({
  roles: z.array(z.enum(['core', 'optional', 'dependency'])).min(1),
  name: z.string().optional(),
  order: z.int().optional().describe('place in the list of its role'),
  offers: z.array(z.string()).min(1).describe('options of its page'),
  debridProviders: texts.optional(),
  debridKey: z
    .union([
      z.strictObject({ option: z.string() }),
      z.strictObject({ component: z.string(), variables: z.record(z.string(), z.string()).optional() }),
    ])
    .optional()
    .describe(
      'where provider keys go: into an option by provider, or into the attached component, without it into env',
    ),
  dependencies: texts.optional().describe('components whose options are offered with it'),
  lateDependencies: texts.optional().describe('of the dependencies those that start after it'),
  first: z.literal(true).optional().describe('started before everything else'),
  afterCores: z.literal(true).optional(),
  brings: texts.optional().describe('services that come with it, and need not be offered beside it'),
  wantedBy: z.string().optional().describe('option: the first enabled block that sets it brings the first instance'),
  attached: values.optional().describe('of an instance that is made for a core service, whose name is {core}'),
  takesKey: z
    .strictObject({ provider: z.string(), option: z.string() })
    .optional()
    .describe('the provider whose key it takes as a component'),
});

const launch = z.strictObject({
  command: texts.optional().describe('used while the block has none of its own'),
  alternative: z
    .strictObject({ command: texts.min(1), lacks: z.string() })
    .optional()
    .describe('used instead where the installed release lacks a file'),
  environment: z
    .array(z.strictObject({ name: z.string(), value: z.string(), when: condition.optional() }))
    .optional()
    .describe('a dollar sign before a name in braces stands for what the service has by that name otherwise'),
  before: z
    .array(texts.min(1))
    .optional()
    .describe(
      'run one after the other as its user before each start, which they can refuse; {program} is its own; others only with the command of the template',
    ),
  asController: z.literal(true).optional().describe('runs with the rights of the host itself'),
  bootsFirst: z.literal(true).optional().describe('a boot starts it before all others, where it has a command'),
  hostWritesLog: z.literal(true).optional().describe('its output is its log'),
});

const versionSource = z.union([
  z.strictObject({
    file: z.string().describe('its first line, unless a member of its JSON or its assignments are named'),
    member: z.string().optional(),
    assignments: texts.min(1).optional().describe('values of `NAME = value`, joined by dots'),
  }),
  z.strictObject({ assembly: z.string().describe('a .NET assembly, whose version resource tells') }),
  z.strictObject({ command: texts.min(1).describe('the first numbered word that it prints') }),
  z.strictObject({ path: z.string().startsWith('/'), portKey: z.string().optional(), member: z.string() }),
]);

const setup = z.strictObject({
  required: texts.optional().describe('options that must not be blank'),
  secrets: z
    .array(z.strictObject({ option: z.string().optional(), env: z.string().optional(), bytes: z.int().min(16) }))
    .optional()
    .describe('generated once and stored, in an option or a variable of env'),
  directories: texts.optional(),
  remove: texts.optional().describe('leftovers of an earlier run'),
  links: z
    .array(z.strictObject({ path: z.string(), to: z.string(), makes: z.literal(true).optional() }))
    .optional()
    .describe('made where nothing is, to a place beside the link; makes: also the directory that it leads to'),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        when: condition.optional(),
        seed: z.string().optional().describe('the text of a file that is missing; without it the file is left missing'),
        seedFrom: texts.optional().describe('files whose text a missing file has instead, the first that is there'),
        mode: z.literal('private').optional(),
        values: values.optional().describe('kept equal to the block'),
        initial: values.optional().describe('set where the file has nothing'),
      }),
    )
    .optional(),
});

/** Paths are relative to `directory`. The block says which release is wanted, and which files an update keeps. */
const install = z.union([
  z.strictObject({
    with: z.string().describe('key of the service whose releases bring its program along'),
    markers: texts.min(1),
  }),
  z.strictObject({
    source: z.string().describe('the `install.source` that fetches releases'),
    facts: values.describe('for the source alone, which knows their form'),
    directory: z.string().optional().describe('folder of the release; absent where the machine itself is changed'),
    ownDirectory: z
      .string()
      .optional()
      .describe('that of an instance which selects another release than the latest; {instance} is its name'),
    markers: texts.min(1).describe('without one of these it is not installed; absolute ones lie in the machine'),
    otherMarkers: z.array(texts.min(1)).min(1).optional().describe('the same for releases of each other layout'),
    versionFile: z.string().optional().describe('written with the version of the release'),
    build: z
      .record(z.string(), values)
      .optional()
      .describe('facts for the runtimes that build it, in the order in which they run, unless platforms names others'),
    built: texts.optional().describe('what builds make anew, also where exclude_dirs names it'),
    notes: z
      .string()
      .optional()
      .describe('address of the release notes where the source tells none; {version} is the number of the release'),
    maxMegabytes: z.int().min(1).optional().describe('how much a release may hold unpacked; default 4096'),
  }),
]);

/** Changes the block of the service, or of each of its instances. */
const migration = z.union([
  z.strictObject({
    id: z.string(),
    where: values.describe('what the block has in an earlier release'),
    set: values.describe('what it has now; null: nothing'),
  }),
  z.strictObject({
    id: z.string(),
    renames: z.record(z.string(), z.string()).describe('options by their former names'),
  }),
  z.strictObject({
    id: z.string(),
    removes: texts.min(1).describe('options that an earlier release has left; once, so that people may set them again'),
  }),
]);

const format = z.strictObject({
  name: z.string().describe('on the wire'),
  dialect: z.enum(['sections', 'settings']),
  extensions: texts.min(1),
  fileName: z.string().optional().describe('only files whose name has it in it'),
  encryptedBy: z.string().optional().describe('first word of a file that is encrypted'),
});

export const serviceTemplate = z.strictObject({
  key: z.string().regex(/^[a-z0-9_]+$/),
  aliases: texts.optional().describe('former keys'),
  displayName: z.string().min(1),
  kind: z.enum(['core', 'dependent', 'optional', 'infrastructure', 'frontend']),
  description: z.string(),
  instance: z.string().optional().describe('name of the first instance; absent for a service without instances'),
  links: z.strictObject({
    repository: z.url().optional(),
    sponsorship: z.url().optional(),
    documentation: z.url().optional(),
  }),
  block: values,
  options: z.record(z.string(), optionFact).optional().describe('its own options; shared ones are in options.json'),
  onboarding: onboarding.optional(),
  launch: launch.optional(),
  install: install.optional().describe('how its program is installed'),
  program: z.strictObject({ from: z.string() }).optional().describe('where its program is usually obtained'),
  version: z
    .strictObject({
      from: z.array(versionSource).min(1).describe('asked in this order; {program_dir} is where its program lies'),
      prefix: z.literal('v').optional().describe('shown before a number'),
    })
    .optional(),
  setup: setup.optional(),
  stop: z.strictObject({
    signal: z.enum(['SIGTERM', 'SIGINT', 'SIGQUIT']).optional(),
    graceSeconds: z.int().min(1).optional(),
    tier: z.int().min(1),
    answersFirst: z
      .literal(true)
      .optional()
      .describe('requests to stop or restart it are answered before, because it passes the answer on itself'),
  }),
  health: z
    .strictObject({
      path: z.string().startsWith('/'),
      portKey: z.string(),
      marker: z.string().optional(),
      jsonKey: z.string().optional(),
      baseInFile: z.string().optional().describe('where its own file has the path below which it answers'),
    })
    .optional(),
  ui: z
    .strictObject({
      route: z.string().optional(),
      kind: z.string().optional().describe('type told to the frontend; default the key'),
      portKey: z.string().optional(),
      portOffset: z.int().optional(),
      entryPath: z.string().startsWith('/').optional(),
      pathPrefix: z.string().startsWith('/').optional(),
      frameable: z.literal(false).optional(),
      publicUrlKey: z.string().optional(),
      internalTarget: z.string().optional(),
      asksBelowRoot: z.literal(true).optional().describe('its pages name their parts without the route'),
    })
    .optional()
    .describe('present: it has a web interface'),
  relations: relations.optional(),
  waits: z.array(wait).optional(),
  mounts: mounts.optional().describe('present: it provides mounts'),
  serves: serves.optional().describe('present: mounts of other services show its files'),
  formats: z.array(format).optional().describe('forms of its own files that no extension tells'),
  logs: z
    .array(z.strictObject({ name: z.string(), option: z.string() }))
    .optional()
    .describe('logs besides its own: what they are asked by, and the option with the file'),
  symlinkRoots: z
    .array(
      z.strictObject({ order: z.int(), path: z.string().startsWith('/').optional(), option: z.string().optional() }),
    )
    .optional()
    .describe('where its links lie that repairs and snapshots take by default: a path, or what an option holds'),
  migrations: z.array(migration).optional().describe('in their order, after the renaming of former keys'),
  family: z.string().optional().describe('services of one family speak the same API'),
  databases: z
    .array(
      z.strictObject({
        engine: z.string(),
        provider: z.string().optional().describe('what clients are told instead of the kind of the engine'),
        file: z.string().optional(),
        places: texts.optional().describe('where the file lies instead, if one of these exists'),
        below: z.string().optional().describe('directory whose databases at any depth are meant'),
        name: z.string().optional(),
        instanceName: z.string().optional(),
        role: z.string().optional(),
        when: condition.optional(),
        uses: texts
          .optional()
          .describe('`<option>=<beginning of its value>`: any of them selects the database, as `when` does'),
        connection: z
          .record(z.string(), z.string())
          .optional()
          .describe('how the service reaches its server, where that is not the managed one'),
        passive: z.literal(true).optional().describe('never opened'),
      }),
    )
    .optional()
    .describe('{option} and {env.NAME} stand for values of the block; of one role the one under a condition wins'),
  dataLinks: z
    .array(z.strictObject({ path: z.string().startsWith('/'), under: z.string().regex(/^[A-Za-z0-9_-]+$/) }))
    .optional()
    .describe('folders that are links to folders of data_root, where data_root is a mount'),
  initialPassword: z.strictObject({ username: z.string(), files: texts }).optional(),
  facts: values.optional().describe('for the folder of this service alone, which knows their form'),
  bootOrder: z.int().optional().describe('breaks ties of the start'),
});

export type OptionFact = z.output<typeof optionFact>;
export type ServiceTemplate = z.output<typeof serviceTemplate>;
