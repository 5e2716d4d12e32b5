// How the main configuration file may be called, in the order of preference; the last name is that of existing
// installations.

export const FILE_NAMES = ['stackwarden.json', 'stackwarden.yaml', 'stackwarden.yml', 'dumb_config.json'];
