// `stackwarden logout`: forgets the tokens that `login` has kept.
import type { Command } from '#core';

const command: Command = {
  summary: 'forget the stored login',
  async run({ host, output }) {
    await host.keepLogin(null);
    output.line(`logged out of ${await host.url()}; no login for it is kept`);
    return 0;
  },
};

export default command;
