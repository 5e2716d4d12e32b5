// Contract tests that plugins can run with tap, published as `stackwarden/contracts`.
export * from './ai-provider.ts';
export * from './config-format.ts';
export * from './install-source.ts';
export * from './migration-service.ts';
export * from './notification-destination.ts';
export * from './plugin.ts';
export * from './signal-source.ts';
