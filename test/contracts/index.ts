// Suites that a plugin can be held against, published as `stackwarden/contracts`. They run in tap.
export * from './ai-provider.ts';
export * from './config-format.ts';
export * from './install-source.ts';
export * from './migration-service.ts';
export * from './notification-destination.ts';
export * from './plugin.ts';
export * from './signal-source.ts';
