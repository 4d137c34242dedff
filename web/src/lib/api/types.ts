import type { components } from './schema.gen';

type Schemas = components['schemas'];

export type Alert = Schemas['Alert'];
export type AlertRule = Schemas['AlertRule'];
export type AlertRuleInput = Schemas['AlertRuleFields'];
export type AlertRules = Schemas['AlertRules'];
export type Action = Schemas['Action'];
export type AdminServer = Schemas['AdminServer'];
export type App = Schemas['App'];
export type BreakGlass = Schemas['BreakGlass'];
export type AsOfBucket = Schemas['BucketAsOf'];
export type AsOfBucketPeople = Schemas['BucketAsOfPeople'];
export type AsOfPerson = Schemas['PersonAsOf'];
export type AsOfGlass = Schemas['BreakGlassAsOf'];
export type Bucket = Schemas['Bucket'];
export type BulkChange = Schemas['BulkChange'];
export type BulkEdited = Schemas['BulkEdited'];
export type Change = Schemas['Change'];
export type Comparison = Schemas['Comparison'];
export type DeletedBucket = Schemas['DeletedBucket'];
export type Me = Schemas['Me'];
export type Member = Schemas['Member'];
export type NewSecret = Schemas['TokenCreated'];
export type Session = Schemas['Session'];
export type System = Schemas['System'];
export type SystemInstance = Schemas['SystemInstance'];
export type SystemSync = Schemas['SystemSync'];
export type Token = Schemas['Token'];
export type Tried = Schemas['Tried'];
export type User = Schemas['User'];
export type Why = Schemas['Why'];
export type NewWebhook = Schemas['WebhookCreated'];
export type Webhook = Schemas['Webhook'];
export type WebhookDetail = Schemas['WebhookDetail'];
export type WebhookInput = Schemas['WebhookInput'];

/** The stable name of a sentence that the server says; both catalogues have a text for each. */
export type RuleCode = NonNullable<Schemas['FieldError']['code']>;

/** What an owner edits, with every field that the API fills in itself when it is left out. */
export type DefinitionInput = Required<Omit<Schemas['BucketUpdate'], 'reason' | 'rate'>> & { rate: number };
export type Definition = Pick<Bucket, keyof DefinitionInput>;

export type TokenScope = Token['scopes'][number];
export type AppRole = Member['role'];
export type Role = Schemas['UserCreate']['role'];
