// `stackwarden help`: lists the commands, or the arguments and options of one of them.
import type { CommandCall } from '../contract/command.ts';
import { errorText } from '../kit/error-text.ts';
import { COMMON_OPTIONS, grammarOf } from './command-line.ts';
import { CommandSet } from './command-set.ts';

const AFTER = `
The default command is start. Exit codes: 0 done, 1 failed, 2 not understood, 3 no host answers.
Where a login is required, set STACKWARDEN_TOKEN to an access token, or run stackwarden login.`;

export async function help({ args: [name], configDir, output, misuse }: CommandCall): Promise<number> {
  const set = new CommandSet(configDir);
  if (name === undefined) {
    output.line(await overview(set));
    return 0;
  }
  const command = await set.find(name);
  if (command === undefined) throw misuse(`unknown command '${name}'; stackwarden help lists all`);
  output.line(grammarOf(`stackwarden ${name}`, command).helpInformation().trimEnd());
  return 0;
}

async function overview(set: CommandSet): Promise<string> {
  const summary = 'supervises the programs of a self-hosted media stack';
  const grammar = grammarOf('stackwarden', { summary, options: COMMON_OPTIONS }).helpCommand(false);
  for (const name of await set.names()) {
    const own = await set
      .find(name)
      .then(command => grammarOf(name, command ?? { summary: '' }))
      .catch((error: Error) => grammarOf(name, { summary: `cannot be loaded: ${errorText(error)}` }));
    grammar.addCommand(own);
  }
  return grammar.helpInformation() + AFTER;
}
