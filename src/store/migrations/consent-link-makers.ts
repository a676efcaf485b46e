import { type Statement, sql } from '../database/database.ts'

/** A migration: who has made the link of a person. Null: the face verification. Never change it. */
export const consentLinkMakers: readonly Statement[] = [sql`alter table consent_links add column made_by text`]
