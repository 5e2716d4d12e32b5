// What an enabled replication or a test of an address needs: imported as one when first used, because most
// installations never need it.
export { testConnection } from './connection-test.ts';
export { Cycles } from './cycles.ts';
export { HttpRequestManager } from './http-request-manager.ts';
