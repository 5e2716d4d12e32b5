// What plugins add to onboarding: instances made for core services, and services that others need first.
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../services/contract.ts';

type Block = Readonly<Record<string, unknown>>;

export interface AttachmentRequest {
  /** The service for which the instance is made. */
  readonly core: ServiceTemplate;
  /** Provider of the first key that was sent with the core. */
  readonly provider: string | undefined;
  /** The instance of another component that belongs to the same core. */
  attachedTo(key: string): NamedBlock | undefined;
}

export interface Attachment {
  /** Values of the new instance in addition to those of its template. */
  readonly values: Block;
  /** Selects instances that cannot run beside the new one, which are disabled. */
  readonly excludes?: (other: NamedBlock) => boolean;
}

/** A component of which each core service has its own instance. */
export interface WizardComponent {
  readonly configKey: string;
  attach(request: AttachmentRequest): Attachment;
}

/** A service that may use a prerequisite: its template, and its block as it would be saved. */
export interface WizardUser {
  readonly template: ServiceTemplate;
  readonly block: NamedBlock;
}

/** A service that is started before those that use it, and configured for them. */
export interface WizardPrerequisite {
  readonly configKey: string;
  /** Whether the user's block asks for this service; the wizard itself reads the dependencies in the template. */
  isUsedBy(user: WizardUser): boolean;
  /** Changes of its own block that make it serve these users. */
  serve(own: Block, users: readonly WizardUser[]): Block;
}

declare module '#core' {
  interface Contributions {
    'wizard.component': WizardComponent;
    'wizard.prerequisite': WizardPrerequisite;
  }
}
