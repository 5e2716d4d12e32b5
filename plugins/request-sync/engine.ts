// The modules that only an enabled replication or a connection test needs. They are imported together on first use,
// because most installations never need them.
export { testConnection } from './connection-test.ts';
export { Cycles } from './cycles.ts';
export { HttpRequestManager } from './http-request-manager.ts';
