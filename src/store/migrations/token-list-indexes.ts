import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { type Statement, type Steps, sql } from '../database/database.ts'

/** A migration: the list of the tokens of all users, with the search by a part of the label. Never change it. */
export function* tokenListIndexes(): Steps {
  // Labels are compared by it. Null: no label, or a token of an older version that runs at the same time.
  yield sql`alter table tokens add column label_key text`
  yield* addLabelKeys()
  for (const statement of indexes) yield statement
}

const indexes: readonly Statement[] = [
  sql`create index tokens_by_age on tokens (created_at, id)`,
  sql`create index revoked_tokens_by_age on tokens (created_at, id) where revoked_at is not null`,
]

const pageSize = 500

/** The key is computed here: the databases do not agree on the lower case of letters. */
function* addLabelKeys(): Steps {
  // Right for most labels, and without a statement for each.
  yield sql`update tokens set label_key = lower(label)`
  let after = ''
  for (;;) {
    const tokens = yield sql`
      select id, label, label_key
      from tokens
      where id > ${after}
      order by id
      limit ${pageSize}`
    for (const { id, label, label_key } of tokens) {
      const key = typeof label === 'string' ? nameKey(label) : label_key
      if (key !== label_key) yield sql`update tokens set label_key = ${key} where id = ${id}`
      after = String(id)
    }
    if (tokens.length < pageSize) return
  }
}
