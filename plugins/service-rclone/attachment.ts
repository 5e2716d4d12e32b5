// The mount that onboarding creates for a core service: its name and the files that it shows.
import path from 'node:path';
import type { ServiceTemplates } from '../services/contract.ts';
import type { Attachment, AttachmentRequest } from '../wizard/contract.ts';

/** The files come from the core service itself, or from a component that serves files for it. */
export function attachMount(
  { core, provider, attachedTo }: AttachmentRequest,
  templates: ServiceTemplates,
  logDir: string,
): Attachment {
  const label = core.displayName;
  const sources = templates.list().filter(({ serves }) => serves !== undefined);
  const isSource = core.serves !== undefined;
  const source = isSource ? core : sources.find(({ key }) => core.relations?.core?.needs.includes(key) === true);
  const mountName = isSource ? core.key : label.toLowerCase().replaceAll(' ', '_');
  const values: Record<string, unknown> = {
    process_name: `Rclone w/ ${label}`,
    key_type: isSource ? core.key : (provider ?? source?.onboarding?.takesKey?.provider ?? ''),
    mount_name: mountName,
    log_file: path.join(logDir, `rclone_w_${mountName}.log`),
  };
  for (const { key, serves } of sources) {
    const isChosen = key === source?.key;
    if (serves?.switch !== undefined) values[serves.switch] = isChosen;
    if (serves?.file !== undefined)
      values[serves.file] = isChosen ? String(attachedTo(key)?.block.config_file ?? '') : '';
  }
  const own = core.serves?.switch;
  // Excludes other mounts of the same files, so that these are mounted only once.
  return { values, ...(own === undefined ? {} : { excludes: other => other.block[own] === true }) };
}
