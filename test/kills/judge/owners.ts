import type { History } from '../history.ts'
import type { Tables } from './tables.ts'

/**
 * The column with the owner of a row, or a query of the rows with that column. Null: rows of this table belong to
 * nobody. A new table must be added.
 */
const tablesOfOwners: Readonly<Record<string, string | null>> = {
  asset_batch_items: `
    select asset_batch_items.*, asset_batches.user_id as owner
    from asset_batch_items join asset_batches on asset_batches.id = batch_id`,
  asset_batches: 'user_id',
  asset_uses: 'user_id',
  asset_watches: 'user_id',
  assets: `select assets.*, groups.user_id as owner from assets join groups on groups.group_id = assets.group_id`,
  audit_chain: null,
  // The entry of a share names its borrower, and a refusal what was asked for.
  audit_entries: `select audit_entries.*, user_id as owner from audit_entries where action not like 'share.%' and action <> 'access.refuse'`,
  callbacks: 'user_id',
  changes: null,
  consent_links: `
    select consent_links.*, consents.owner_id as owner
    from consent_links join consents on consents.group_id = consent_links.group_id`,
  consent_uses: 'user_id',
  consents: 'owner_id',
  deleted_names: null,
  deliveries: `
    select deliveries.*, webhooks.user_id as owner, events.data, events.user_id
    from deliveries join webhooks on webhooks.id = webhook_id join events on events.sequence = event_sequence`,
  delivery_turns: null,
  disabled_host_users: null,
  event_sequence: null,
  events: 'user_id',
  face_verifications: 'user_id',
  files: 'user_id',
  first_account: null,
  // A share names its borrower, too.
  group_shares: `select id, group_id, owner_id, owner_id as owner from group_shares`,
  groups: 'user_id',
  idempotency_keys: 'user_id',
  invitations: 'user_id',
  leases: null,
  library_counts: 'user_id',
  limit_blocks: null,
  limit_holders: null,
  limit_use: null,
  login_attempts: null,
  metric_counts: null,
  person_slots: 'user_id',
  registered_pictures: 'user_id',
  revision: null,
  secrets: null,
  sessions: 'user_id',
  slotted_assets: 'user_id',
  slotted_groups: null,
  slot_evictions: null,
  slot_limits: null,
  slot_waits: 'user_id',
  sluice_migrations: null,
  stored_items: 'user_id',
  stored_pieces: `
    select stored_pieces.*, stored_responses.user_id as owner
    from stored_pieces join stored_responses on stored_responses.id = response_id`,
  stored_responses: 'user_id',
  teams: null,
  text_objects: 'user_id',
  text_usage: 'user_id',
  text_usage_batches: null,
  tokens: 'user_id',
  upstream_places: null,
  upstream_turns: 'user_id',
  usage_rollup_turns: null,
  usage_rollups: 'user_id',
  user_name_parts: 'user_id',
  user_turns: 'user_id',
  users: 'id',
  video_asset_uses: 'user_id',
  video_pools: null,
  video_request_pieces: `
    select video_request_pieces.*, video_tasks.user_id as owner
    from video_request_pieces join video_tasks on video_tasks.id = task_id`,
  video_tasks: 'user_id',
  video_turns: 'user_id',
  webhooks: 'user_id',
}

/** Pairs of rows of which the second one belongs to the first one. Each query returns the pairs whose owners differ. */
const pairs: Readonly<Record<string, string>> = {
  'an item of a response': `
    select stored_items.id from stored_items join stored_responses on stored_responses.id = response_id
    where stored_items.user_id <> stored_responses.user_id`,
  'a response and the one before it': `
    select later.id from stored_responses later join stored_responses earlier on earlier.id = later.previous_id
    where later.user_id <> earlier.user_id`,
  'an asset of a video': `
    select task_id from video_asset_uses join video_tasks on video_tasks.id = task_id
    where video_asset_uses.user_id <> video_tasks.user_id`,
  'the token of a video': `
    select video_tasks.id from video_tasks join tokens on tokens.id = token_id
    where video_tasks.user_id <> tokens.user_id`,
  'the token of usage': `
    select token_id from text_usage join tokens on tokens.id = token_id
    where text_usage.user_id <> tokens.user_id`,
  'the group of a batch': `
    select asset_batches.id from asset_batches join groups on groups.group_id = asset_batches.group_id
    where asset_batches.user_id <> groups.user_id`,
  'the group of a consent': `
    select consents.group_id from consents join groups on groups.group_id = consents.group_id
    where owner_id <> groups.user_id`,
  'the group of a face check': `
    select face_verifications.id from face_verifications join groups on groups.group_id = face_verifications.group_id
    where face_verifications.user_id <> groups.user_id`,
  'the group of a share': `
    select group_shares.id from group_shares join groups on groups.group_id = group_shares.group_id
    where owner_id <> groups.user_id`,
  'an event of a webhook': `
    select webhook_id from deliveries join webhooks on webhooks.id = webhook_id
    join events on events.sequence = event_sequence where webhooks.user_id <> events.user_id`,
}

/** No row has an id or a text of somebody else. */
export const checkOwners = async ({ owners }: Pick<History, 'owners'>, tables: Tables): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const table of await tables.names()) {
    const column = tablesOfOwners[table]
    if (column === undefined) problems.push(`whose the rows of ${table} are is not known`)
    if (!column) continue
    const rows = await tables.query(
      column.includes(' ') ? column : `select ${table}.*, ${column} as owner from ${table}`,
    )
    for (const { owner, ...row } of rows) {
      // Usage of everybody together, for example.
      if (!owner) continue
      for (const id of wordsOf(row)) {
        const other = owners.get(id)
        if (other !== undefined && other !== String(owner))
          problems.push(`a row of ${table} of ${owner} has ${id} of ${other}`)
      }
    }
  }
  for (const [what, statement] of Object.entries(pairs)) {
    const crossing = await tables.query(statement)
    if (crossing.length > 0) problems.push(`${what} has another owner: ${JSON.stringify(crossing.slice(0, 3))}`)
  }
  return problems
}

const wordsOf = (row: object): ReadonlySet<string> =>
  new Set(
    Object.values(row)
      .filter((value) => typeof value === 'string')
      .flatMap((text) => text.match(/[\w-]{6,}/g) ?? []),
  )
