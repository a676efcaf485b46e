import type { Steps } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { libraryCountTables } from './library-counts.ts'
import { auditChainTables, auditReportTables } from './tables/audit.ts'
import { consentLinkMakers, consentListIndexes, consentTables, personsOfEarlierTexts } from './tables/consents.ts'
import { callbackIndexes, eventTables } from './tables/events.ts'
import { fileTables } from './tables/files.ts'
import { idempotencyTables } from './tables/idempotency.ts'
import {
  accountColumns,
  assetBatchTables,
  assetUseTables,
  assetWatchTables,
  batchRetries,
  firstAccountTable,
  personSlotTables,
  pictureTables,
  renamingIndexes,
  runningBatchIndexes,
  shareTables,
  slotAccountColumns,
  slotEvictionTables,
  slotLimitTables,
  slottedAssetTables,
  slotUseTables,
} from './tables/library.ts'
import { countedTables, limitTables } from './tables/limits.ts'
import { metricTables } from './tables/metrics.ts'
import { hostUserTables, peopleIndexes, peopleTables, tokenListIndexes } from './tables/people.ts'
import { storedPieceTables, storedResponseTables } from './tables/stored-responses.ts'
import { usageRollupTables, usageTables } from './tables/usage.ts'
import { videoDecisionTables, videoRequestTables, videoTables } from './tables/videos.ts'

/** Statements, or steps where a later statement depends on the rows of an earlier one. */
export type Migration = readonly Statement[] | (() => Steps)

/**
 * All migrations, in SQL that both databases accept, but for triggers. Never change a released one: append a new one.
 */
export const migrations: readonly Migration[] = [
  [
    sql`
      create table users (
        id text primary key,
        name text not null unique,
        password text,
        created_at bigint not null,
        disabled_at bigint
      )`,
    sql`
      create table tokens (
        id text primary key,
        user_id text not null references users (id),
        hash text not null unique,
        start text not null,
        label text,
        created_at bigint not null,
        expires_at bigint,
        revoked_at bigint
      )`,
    sql`create index tokens_of_user on tokens (user_id)`,
    // The owners of groups may be users of a host app, so `user_id` is no foreign key.
    sql`
      create table groups (
        id text primary key,
        group_id text,
        user_id text not null,
        type text not null,
        name text not null,
        description text,
        renames text,
        state text not null check (state in ('pending', 'unresolved', 'owned')),
        created_at bigint not null,
        due_at bigint,
        check (state <> 'owned' or group_id is not null),
        check (state = 'owned' or due_at is not null)
      )`,
    sql`create unique index one_group_a_name on groups (user_id, type, name) where state <> 'unresolved'`,
    sql`create unique index one_owner_a_group on groups (group_id) where state = 'owned'`,
    sql`create index claims_by_due on groups (due_at) where state <> 'owned'`,
    sql`create table assets (id text primary key, group_id text not null)`,
    sql`create index assets_of_group on assets (group_id)`,
    sql`create table revision (id integer primary key check (id = 1), value bigint not null)`,
    sql`insert into revision (id, value) values (1, 1)`,
    sql`create table secrets (name text primary key, value text not null)`,
  ],
  [
    sql`
      create table upstream_places (
        action text not null,
        place integer not null,
        free_at bigint not null,
        lease_until bigint not null,
        taken_by text,
        primary key (action, place)
      )`,
    sql`
      create table upstream_turns (
        action text not null,
        user_id text not null,
        served_at bigint not null,
        waits_until bigint not null,
        primary key (action, user_id)
      )`,
  ],
  [sql`alter table groups add column dated integer not null default 0`],
  [
    // Usage outlives its user and token, so there are no foreign keys. `token_id` is '' for calls without a token.
    sql`
      create table text_usage (
        user_id text not null,
        token_id text not null,
        day text not null,
        model text not null,
        calls bigint not null,
        unreported bigint not null,
        input_tokens bigint not null,
        cached_tokens bigint not null,
        output_tokens bigint not null,
        reasoning_tokens bigint not null,
        primary key (user_id, token_id, day, model)
      )`,
    sql`create index text_usage_by_day on text_usage (day)`,
  ],
  [
    sql`
      create table sessions (
        hash text primary key,
        user_id text not null references users (id),
        password_hash text not null,
        created_at bigint not null,
        idle_until bigint not null,
        ends_at bigint not null
      )`,
    sql`create index sessions_of_user on sessions (user_id)`,
    sql`create index sessions_by_end on sessions (idle_until)`,
    sql`
      create table login_attempts (
        key text primary key,
        failures bigint not null,
        blocked_until bigint not null,
        forget_at bigint not null,
        counted_by text not null
      )`,
    sql`create index login_attempts_by_end on login_attempts (forget_at)`,
  ],
  [
    // `token` is the upstream's token of the verification; it becomes null when the verification ends. The users may be
    // users of a host app, so `user_id` is no foreign key.
    sql`
      create table face_verifications (
        id text primary key,
        user_id text not null,
        kind text not null,
        status text not null,
        state_hash text unique,
        token text,
        group_id text,
        created_at bigint not null,
        expires_at bigint not null,
        due_at bigint,
        lease_until bigint not null,
        asks bigint not null
      )`,
    sql`create index face_verifications_by_due on face_verifications (kind, due_at) where due_at is not null`,
    sql`create index face_verifications_by_age on face_verifications (created_at)`,
  ],
  [
    // `due_at` is set for a background response whose usage is not recorded yet. The users may be users of a host app,
    // so `user_id` is no foreign key.
    sql`
      create table text_objects (
        kind text not null check (kind in ('response', 'conversation', 'item')),
        id text not null,
        user_id text not null,
        token_id text,
        upstream text not null,
        model text not null,
        created_at bigint not null,
        expires_at bigint not null,
        due_at bigint,
        primary key (kind, id)
      )`,
    sql`create index text_objects_by_end on text_objects (expires_at)`,
    sql`create index text_objects_by_due on text_objects (due_at) where due_at is not null`,
  ],
  [sql`alter table groups add column ended_at bigint`],
  [
    // The changes of each revision: a process drops these entries from its cache, and no others.
    sql`
      create table changes (
        revision bigint not null,
        kind text not null,
        key text not null,
        primary key (revision, kind, key)
      )`,
  ],
  [
    // Entries outlive the users, tokens and groups that they name, so there are no foreign keys.
    sql`
      create table audit_entries (
        id text primary key,
        at bigint not null,
        action text not null,
        user_id text,
        user_name text,
        token_id text,
        kind text,
        target text,
        address text,
        status integer,
        reason text,
        times bigint not null
      )`,
    sql`create index audit_entries_by_time on audit_entries (at, id)`,
  ],
  [
    // A lock row for each user: a transaction that counts the rows of a user and adds one updates it first
    // (user-locks.ts).
    sql`create table user_turns (user_id text primary key, turn bigint not null)`,
    sql`create index tokens_working on tokens (user_id, expires_at) where revoked_at is null`,
    sql`create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null`,
    sql`create index tokens_by_expiry on tokens (expires_at) where expires_at is not null`,
    sql`create index face_verifications_of_user on face_verifications (user_id, expires_at)`,
  ],
  [sql`create index tokens_by_age on tokens (user_id, created_at)`, sql`drop index tokens_of_user`],
  // Ids of usage batches that have been written: a batch that is retried after an unknown outcome counts once.
  [sql`create table text_usage_batches (id text primary key, at bigint not null)`],
  storedResponseTables,
  // Billionths of the currency unit. Null: no call had a price.
  [sql`alter table text_usage add column cost bigint`],
  eventTables,
  idempotencyTables,
  videoTables,
  // The status of a video task that its user was told last.
  [sql`alter table video_tasks add column told text`],
  fileTables,
  // What the last task of a user in a pool has added to the pass.
  [sql`alter table video_turns add column stride bigint not null default 0`],
  [sql`create index video_pools_by_use on video_pools (used_at)`],
  assetWatchTables,
  videoRequestTables,
  storedPieceTables,
  hostUserTables,
  peopleTables,
  usageTables,
  auditReportTables,
  auditChainTables,
  limitTables,
  videoDecisionTables,
  countedTables,
  peopleIndexes,
  usageRollupTables,
  metricTables,
  pictureTables,
  shareTables,
  tokenListIndexes,
  renamingIndexes,
  assetUseTables,
  assetBatchTables,
  consentTables,
  accountColumns,
  consentLinkMakers,
  consentListIndexes,
  batchRetries,
  slottedAssetTables,
  firstAccountTable,
  // Groups of persons that an object shows, as a JSON list. Null: none. Before, they were not recorded.
  [sql`alter table text_objects add column persons text`],
  personSlotTables,
  slotUseTables,
  slotAccountColumns,
  personsOfEarlierTexts,
  libraryCountTables,
  callbackIndexes,
  runningBatchIndexes,
  slotEvictionTables,
  slotLimitTables,
]
