// `stackwarden logout`: forgets the tokens that `login` has kept.
import type { Command } from '#core';

const command: Command = {
  summary: 'forget the login',
  async run({ host, output }) {
    await host.keepLogin(null);
    output.line(`no login is kept for ${await host.url()}`);
    return 0;
  },
};

export default command;
