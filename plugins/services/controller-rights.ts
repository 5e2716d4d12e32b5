// Decides which blocks run with the rights of the host: those that launch the program just as the product's own
// template does.
import { isDeepStrictEqual } from 'node:util';
import type { ConfigStore, NamedBlock } from '#core';
import type { ServiceTemplate, ServiceTemplates } from './contract.ts';

const LEADING_OPTION = /^\{(\w+)\}/;

/** True, or a sentence about what the block must not have for that. */
export function controllerRights(
  templates: ServiceTemplates,
  template: ServiceTemplate,
  named: NamedBlock,
  store: Pick<ConfigStore, 'blockMarks'>,
): true | string {
  const { key, block } = named;
  if (!isTemplates(templates.block(template, key), block)) {
    return 'only the command of its template has the rights of Stackwarden; remove its own command for that';
  }
  // Variables decide which program and libraries are loaded, and some programs run what a variable names.
  const [variable] = Object.keys((block.env ?? {}) as object).filter(name => !isTemplateVariable(template, name));
  if (variable !== undefined) {
    return `only the environment of its template has the rights of Stackwarden; remove ${variable} from env for that`;
  }
  const files = store.blockMarks(named).programFiles.find(option => block[option] !== undefined);
  if (files !== undefined)
    return `only the environment of its template has the rights of Stackwarden; remove ${files} for that`;
  const flag = (template.launch?.command ?? [])
    .map(word => LEADING_OPTION.exec(word)?.[1])
    .find(option => option !== undefined && String(block[option] ?? '').startsWith('-'));
  return flag === undefined ? true : `its ${flag} begins with a hyphen, so the command would take it as a flag`;
}

function isTemplates({ command: known }: Record<string, unknown>, { command }: NamedBlock['block']): boolean {
  const isBlank = command === undefined || command === '' || (Array.isArray(command) && command.length === 0);
  return isBlank || isDeepStrictEqual(command, known);
}

function isTemplateVariable({ launch, block }: ServiceTemplate, name: string): boolean {
  return (
    (launch?.environment ?? []).some(variable => variable.name === name) ||
    Object.hasOwn((block.env ?? {}) as object, name)
  );
}
