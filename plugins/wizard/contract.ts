// What folders of services add to onboarding: instances made for a core service, and services that others need before them.
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../services/contract.ts';

type Block = Readonly<Record<string, unknown>>;

export interface AttachmentRequest {
  /** The service that it is made for. */
  readonly core: ServiceTemplate;
  /** Of the first key that was sent with the core. */
  readonly provider: string | undefined;
  /** The instance of another kind that belongs to the same core. */
  attachedTo(key: string): NamedBlock | undefined;
}

export interface Attachment {
  /** What a new instance has besides what its template says. */
  readonly values: Block;
  /** Instances that cannot run beside it; they are switched off. */
  readonly excludes?: (other: NamedBlock) => boolean;
}

/** A component of which each core service has an instance of its own. */
export interface WizardComponent {
  readonly configKey: string;
  attach(request: AttachmentRequest): Attachment;
}

/** A service that may use another: what is known of its kind, and its block as it will be. */
export interface WizardUser {
  readonly template: ServiceTemplate;
  readonly block: NamedBlock;
}

/** A service that is started before those that use it, and prepared for them. */
export interface WizardPrerequisite {
  readonly configKey: string;
  /** Whether the block says so; what its template says is known. */
  isUsedBy(user: WizardUser): boolean;
  /** What changes in its own block so that it serves them. */
  serve(own: Block, users: readonly WizardUser[]): Block;
}

declare module '#core' {
  interface Contributions {
    'wizard.component': WizardComponent;
    'wizard.prerequisite': WizardPrerequisite;
  }
}
