// The members of a block that hold the ports on which its process listens, whatever the kind of service.

export const PORT_KEYS = ['port', 'frontend_port', 'backend_port', 'webdav_port'] as const;
