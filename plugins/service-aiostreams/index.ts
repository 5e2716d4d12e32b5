// AIOStreams: its address follows its port, and a start is refused with options that AIOStreams would not accept or
// that would let anybody administer it.
import { definePlugin, Problem } from '#core';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { addressFault, followed, loginFault } from './options.ts';

const KEY = 'aiostreams';
const ADDRESS = 'BASE_URL';
const LOGIN = 'AIOSTREAMS_AUTH';

type Values = Readonly<Record<string, unknown>>;

export default definePlugin({
  name: 'service-aiostreams',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async check({ block: { block, processName } }) {
        const own = variablesOf(block);
        const address = followed(textOf(block.base_url), block.port);
        const isByHand = textOf(own[LOGIN]) !== '' && textOf(block.auth_password) === '';
        const fault =
          (Object.hasOwn(own, ADDRESS) ? undefined : addressFault(address)) ??
          (isByHand ? undefined : loginFault(block));
        if (fault !== undefined) throw new Problem(400, `${processName} cannot start: its option ${fault}`);
      },
      async choose({ plan, block: { block } }) {
        if (!Object.hasOwn(variablesOf(block), ADDRESS))
          plan.env[ADDRESS] = followed(textOf(block.base_url), block.port);
      },
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block: { block }, store }) {
        const address = followed(textOf(block.base_url), block.port);
        if (address !== textOf(block.base_url)) await store({ base_url: address });
      },
    });
  },
});

function variablesOf({ env }: Values): Values {
  return (env ?? {}) as Values;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
