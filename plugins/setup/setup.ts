// Carries out the set-up that a template describes before a launch. Each step can be repeated at any time.
import { randomBytes } from 'node:crypto';
import { type ContributionList, type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { fileVersion } from '#kit/fs-out-of-process';
import { GuardedDirectory } from '#kit/guarded-directory';
import { placeholderValues } from '#kit/placeholder-values';
import type {} from '../installs/contract.ts';
import type { LaunchPlaceholders, LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import { endEarlier, runBefore } from './before.ts';
import type {
  OptionsContext,
  ProgramContext,
  ServiceConfigure,
  ServiceProgram,
  ServiceSetups,
  SetupContext,
} from './contract.ts';
import { makeOwned } from './directories.ts';
import { ensureLink } from './links.ts';
import { Placeholders } from './placeholders.ts';
import { checkProgram } from './program.ts';

const PROGRAM = '{program}';
const MAX_SEED_BYTES = 1024 * 1024;
const OPTION_MISSING = 'setup.option-missing';
/** Matches a variable of the launch in the value of another one. */
const VARIABLE = /\$\{(\w+)\}/g;

interface Points {
  readonly steps: ContributionList<ServiceConfigure>;
  readonly programs: ContributionList<ServiceProgram>;
}

export class ServiceSetup implements ServiceSetups {
  readonly #host: Host;
  readonly #install: (context: SetupContext) => Promise<void>;
  readonly #points: Points;
  readonly #placeholders: ContributionList<LaunchPlaceholders>;

  constructor(host: Host, points: Points, install: (context: SetupContext) => Promise<void>) {
    this.#host = host;
    this.#install = install;
    this.#points = points;
    this.#placeholders = host.contributions('process.placeholders');
  }

  /**
   * Changes the plan, the disk and, for generated secrets, the configuration. Throws a Problem that says what is
   * missing.
   */
  async prepare(plan: LaunchPlan, template: ServiceTemplate): Promise<void> {
    const store = this.#host.use('config.store');
    const found = store.findBlock(plan.processName);
    if (found === undefined) return;
    await this.#endEarlier(plan, template);
    await this.#generateSecrets(found, template, plan);
    const block = store.findBlock(plan.processName) ?? found;
    const known = this.#placeholdersOf(block);
    // Checked first, so that nothing is installed for a service that lacks an option.
    await this.#requireOptions({ plan, block, template, fill: text => known.fill(text) });
    await this.#install(this.#context(plan, block, template, known));
    // Read again, because placeholders may hold the version that was just installed.
    const placeholders = this.#placeholdersOf(block);
    const context = this.#context(plan, block, template, placeholders);
    const isTemplates = this.#complete(plan, block, template, placeholders);
    await this.#choose({ plan, block, template, isTemplates, fill: context.fill });
    if (plan.cwd !== undefined) await context.makeDirectory(plan.cwd);
    for (const directory of template.setup?.directories ?? []) await context.makeDirectory(context.fill(directory));
    for (const file of template.setup?.remove ?? []) await GuardedDirectory.remove(context.fill(file));
    for (const link of template.setup?.links ?? []) await ensureLink(link, context);
    await this.#writeFiles(context, placeholders);
    await this.#configure(context);
    await this.#runBefore(context, isTemplates);
  }

  /** Ends what an earlier start has left of the steps before the launch. */
  async #endEarlier(plan: LaunchPlan, template: ServiceTemplate): Promise<void> {
    if (template.launch?.before === undefined || template.launch.before.length === 0) return;
    if (await endEarlier(plan.processName, this.#workBefore(plan)))
      this.#host.log.warn(`${plan.processName}: an earlier step before its start had not ended, and was ended`);
  }

  /** Lets plugins do what the template cannot express. */
  async #configure(context: SetupContext): Promise<void> {
    const { plan, template } = context;
    const steps = [...this.#points.steps.values()].filter(({ configKey }) => configKey === template.key);
    if (steps.length === 0) this.#withholdRights(context);
    for (const step of steps) {
      await step.configure(context);
      plan.signal.throwIfAborted();
    }
  }

  /** Runs the steps before the launch. With a command of the user's own, only those with its program are meant. */
  async #runBefore({ plan, template, fill }: SetupContext, isTemplates: boolean): Promise<void> {
    const [program = ''] = plan.argv;
    for (const [first = '', ...rest] of template.launch?.before ?? []) {
      if (first !== PROGRAM && !isTemplates) continue;
      await runBefore(plan, [first === PROGRAM ? program : first, ...rest].map(fill), this.#workBefore(plan));
    }
  }

  /** The mark of the processes that run before a launch. */
  #workBefore({ processName }: LaunchPlan): string {
    return `before ${this.#host.paths.configDir}/${processName}`;
  }

  async obstacle(block: NamedBlock): Promise<Problem | undefined> {
    const missing = await this.missing(block);
    if (missing === undefined || missing.code === OPTION_MISSING) return missing;
    const installs = this.#host.find('installs');
    // null means that no source installs the program, so the template's own message counts.
    const obstacle = installs === undefined ? null : await installs.obstacle(block);
    return obstacle === null ? missing : obstacle;
  }

  async missing(block: NamedBlock): Promise<Problem | undefined> {
    // The host's own entry is launched by nobody.
    if (block.isHost || this.#host.find('service.templates')?.get(block.configKey) === undefined) return undefined;
    try {
      await this.plan(block);
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  async plan(block: NamedBlock): Promise<LaunchPlan> {
    const plan = this.#host.use('process.supervisor').plan(block);
    const template = this.#host.find('service.templates')?.get(block.configKey);
    if (template === undefined) return plan;
    const placeholders = this.#placeholdersOf(block);
    const fill = (text: string): string => placeholders.fill(text);
    await this.#requireOptions({ plan, block, template, fill });
    const isTemplates = this.#complete(plan, block, template, placeholders);
    await this.#choose({ plan, block, template, isTemplates, fill });
    return plan;
  }

  /**
   * Without a step of a plugin, a program with the host's rights runs as the services' user: only such a step makes
   * sure that other users cannot control the program by its files.
   */
  #withholdRights({ plan, template, owner }: SetupContext): void {
    if (template.launch?.asController !== true || plan.user !== null || owner === null) return;
    plan.user = owner;
    plan.env.HOME = plan.cwd ?? '/';
    this.#host.log.warn(`${plan.processName} runs as the services' user: no plugin is loaded that prepares it`);
  }

  #placeholdersOf(block: NamedBlock): Placeholders {
    const given = placeholderValues(this.#placeholders, block);
    return new Placeholders({ block, root: this.#host.use('config.store').root(), given });
  }

  #context(plan: LaunchPlan, block: NamedBlock, template: ServiceTemplate, placeholders: Placeholders): SetupContext {
    const owner = plan.user ?? this.#host.use('process.supervisor').userOf(block);
    return {
      plan,
      block,
      template,
      owner,
      fill: text => placeholders.fill(text),
      makeDirectory: async (directory, mode) => {
        if (await makeOwned(directory, owner, mode))
          this.#host.log.warn(
            `${block.processName}: an earlier run has left a dead mount on ${directory}; it was taken off`,
          );
      },
      store: options => this.#save(block, options),
    };
  }

  async #save({ path }: NamedBlock, options: Record<string, unknown>): Promise<void> {
    const updates = path.reduceRight<Record<string, unknown>>((value, key) => ({ [key]: value }), options);
    await this.#host.use('config.store').update({ updates, persist: true, actor: 'setup' });
  }

  async #generateSecrets(block: NamedBlock, { setup }: ServiceTemplate, plan: LaunchPlan): Promise<void> {
    const env = (block.block.env ?? {}) as Record<string, unknown>;
    const updates: Record<string, unknown> = {};
    for (const { option, env: variable, bytes } of setup?.secrets ?? []) {
      const secret = randomBytes(bytes).toString('hex');
      if (option !== undefined && isBlank(block.block[option])) updates[option] = secret;
      if (variable !== undefined && isBlank(env[variable]) && !plan.givenEnv.has(variable)) {
        updates.env = { ...((updates.env ?? {}) as Record<string, unknown>), [variable]: secret };
      }
    }
    if (Object.keys(updates).length > 0) await this.#save(block, updates);
  }

  /** Throws a Problem with the code OPTION_MISSING when an option is missing or wrong. */
  async #requireOptions(context: OptionsContext): Promise<void> {
    const { processName, block } = context.block;
    const code = OPTION_MISSING;
    const unset = context.template.setup?.required?.filter(name => isBlank(block[name])) ?? [];
    const are = unset.length === 1 ? `option ${unset[0]} is` : `options ${unset.join(', ')} are`;
    if (unset.length > 0) throw new Problem(400, `${processName} cannot start: its ${are} not set`, { code });
    for (const program of this.#programsOf(context.template)) {
      try {
        await program.check?.(context);
      } catch (error) {
        throw error instanceof Problem ? new Problem(error.status, error.message, { code, cause: error.cause }) : error;
      }
    }
  }

  /**
   * Sets the command where the block has none of its own, and the variables derived from the configuration. Returns
   * whether the command is the template's.
   */
  #complete(plan: LaunchPlan, block: NamedBlock, template: ServiceTemplate, placeholders: Placeholders): boolean {
    const { launch } = template;
    const known = this.#host.use('service.templates').block(template, block.key);
    const isTemplates = plan.argv.length === 0 || JSON.stringify(known.command) === JSON.stringify(block.block.command);
    if (launch?.command !== undefined && isTemplates) plan.argv = launch.command.map(word => placeholders.fill(word));
    const own = (block.block.env ?? {}) as Record<string, unknown>;
    const givenEnv = (known.env ?? {}) as Record<string, unknown>;
    // A value that the block has from its template is no choice of the user.
    const isChosen = (name: string): boolean =>
      plan.givenEnv.has(name) || (Object.hasOwn(own, name) && own[name] !== givenEnv[name]);
    for (const { name, value, when } of launch?.environment ?? []) {
      if (isChosen(name) || (when !== undefined && !placeholders.isSet(when))) continue;
      const known = value.replaceAll(VARIABLE, (whole, variable: string) => plan.env[variable] ?? whole);
      plan.env[name] = placeholders.fill(known);
    }
    return isTemplates;
  }

  /** Throws a Problem when the program, or something else without which it cannot run, is missing. */
  async #choose(context: ProgramContext): Promise<void> {
    const { plan, template, isTemplates, fill } = context;
    const { command, lacks } = template.launch?.alternative ?? {};
    if (isTemplates && command !== undefined && lacks !== undefined && !(await isThere(fill(lacks))))
      plan.argv = command.map(fill);
    for (const program of this.#programsOf(template)) await program.choose(context);
    await checkProgram(plan, template);
  }

  #programsOf({ key }: ServiceTemplate): ServiceProgram[] {
    return [...this.#points.programs.values()].filter(({ configKey }) => configKey === key);
  }

  async #writeFiles({ block, template, owner }: SetupContext, placeholders: Placeholders): Promise<void> {
    const files = this.#host.find('config.files');
    if (files === undefined) return;
    for (const { path, when, seed, seedFrom = [], mode, values, initial } of template.setup?.files ?? []) {
      if (when !== undefined && !placeholders.isSet(when)) continue;
      const file = placeholders.fill(path);
      const wanted = {
        seed: (await isThere(file)) ? seed : ((await firstText(seedFrom.map(from => placeholders.fill(from)))) ?? seed),
        values: (placeholders.fillTree(values ?? {}) ?? {}) as Record<string, unknown>,
        initial: (placeholders.fillTree(initial ?? {}) ?? {}) as Record<string, unknown>,
        mode: mode === 'private' ? 0o600 : 0o644,
        owner,
      };
      await files.ensure(block, file, wanted).catch((cause: unknown) => {
        const detail = `${block.processName} cannot start: ${file} cannot be set up: ${errorText(cause)}`;
        throw new Problem(statusOfRefusal(cause), detail, { cause });
      });
    }
  }
}

/** The status that says why a file is refused; for a request to start, 404 would mean an unknown process. */
function statusOfRefusal(error: unknown): number {
  return error instanceof Problem && error.status !== 404 ? error.status : 500;
}

/** True also for a file on a mount that does not answer, because the check of the program reports that. */
function isThere(file: string): Promise<boolean> {
  return fileVersion(file).then(
    version => version !== null,
    () => true,
  );
}

/** The text of the first of these files that exists. Throws an Error for one that cannot be read. */
async function firstText(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    if (!(await isThere(file))) continue;
    const text = await GuardedDirectory.at(file, (directory, name) => directory.read(name, MAX_SEED_BYTES));
    if (text !== null) return text.toString('utf8');
  }
  return undefined;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
