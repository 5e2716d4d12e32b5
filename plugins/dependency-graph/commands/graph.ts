// `stackwarden graph`: prints the dependencies of the running service's processes as Mermaid text.
import type { Command } from '#core';
import { mermaid } from '../mermaid.ts';

const command: Command = {
  summary: 'print the dependencies of services, as Mermaid text',
  arguments: [{ syntax: '[NAME]', description: 'name of a service; without it, all enabled services' }],
  options: [
    {
      flags: '--scope <SCOPE>',
      description: 'runtime (default): only dependencies that delay a start; all: also documented integrations',
      choices: ['runtime', 'all'],
    },
  ],
  async run({ args: [name], options, host, output }) {
    output.line(await mermaid(host, { name, scope: String(options.scope ?? 'runtime') }));
    return 0;
  },
};

export default command;
