// `stackwarden graph`: prints the dependencies of the running service's processes as Mermaid text.
import type { Command } from '#core';
import { mermaid } from '../mermaid.ts';

const command: Command = {
  summary: 'print what needs what, as Mermaid text',
  arguments: [{ syntax: '[NAME]', description: 'a service; without it all that are enabled' }],
  options: [
    {
      flags: '--scope <SCOPE>',
      description: 'all: documented integrations too, not only what holds a start up',
      choices: ['runtime', 'all'],
    },
  ],
  async run({ args: [name], options, host, output }) {
    output.line(await mermaid(host, { name, scope: String(options.scope ?? 'runtime') }));
    return 0;
  },
};

export default command;
