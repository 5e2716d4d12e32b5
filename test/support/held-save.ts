// A plugin whose check of the configuration holds back saves, so that another one can come meanwhile.

/**
 * The set-up of the plugin: `GET /fixture/saves` answers once a save has begun, `POST /fixture/release` lets it and all
 * later ones go on.
 */
export const HELD_SAVE = `
  let tellSaves, release;
  const saves = new Promise(resolve => { tellSaves = resolve; });
  const released = new Promise(resolve => { release = resolve; });
  host.tap('config.check', () => {
    tellSaves();
    return released;
  });
  host.route({ method: 'GET', path: '/fixture/saves', access: 'public', handle: () => saves.then(() => ({})) });
  host.route({
    method: 'POST',
    path: '/fixture/release',
    access: 'public',
    handle() {
      release();
      return {};
    },
  });`;
