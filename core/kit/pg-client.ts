// A client of pg that never sends its password in clear text, because another program may have taken the port of a
// server that is down.
import type { Client } from 'pg';

type ClientClass = new (...config: ConstructorParameters<typeof Client>) => Client;

/**
 * pg's `Client`, whose connection ends when the server asks for the password in clear text; pg has no setting for that.
 * `connect` then rejects with the code ECLEARTEXT.
 */
export function secretiveClient(PgClient: ClientClass): ClientClass {
  return class extends PgClient {
    constructor(...config: ConstructorParameters<typeof Client>) {
      super(...config);
      this.connection.prependListener('authenticationCleartextPassword', () => {
        const reason = 'the server asks for the password in clear text; set scram-sha-256 in its pg_hba.conf';
        this.connection.stream.destroy(Object.assign(new Error(reason), { code: 'ECLEARTEXT' }));
      });
    }
  };
}
