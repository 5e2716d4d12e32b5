// `stackwarden reload`: makes the running host read its configuration again and begin new log files.
import type { Command } from '#core';
import { hostAnswer } from '#kit/host-answer';

interface Outcome {
  readonly status: string;
  readonly problems: readonly string[];
}

const command: Command = {
  summary: 'read the configuration again and begin new log files; nothing is restarted',
  async run({ host, output }) {
    const { status, problems } = hostAnswer<Outcome>(await host.post('/host/reload', {}), {
      status: '',
      problems: [''],
    });
    output.line(status);
    for (const problem of problems) output.note(problem);
    return problems.length > 0 ? 1 : 0;
  },
};

export default command;
