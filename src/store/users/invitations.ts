import type { NewInvitation } from '../../../plugins/admin/store.ts'
import { type Statement, sql } from '../database/database.ts'

/** Stores the invitation of a user; one before ends. */
export const addInvitationOf = (user: string, { hash, createdAt, expiresAt }: NewInvitation): Statement => sql`
  insert into invitations (user_id, hash, created_at, expires_at)
  values (${user}, ${hash}, ${createdAt}, ${expiresAt})
  on conflict (user_id) do update
  set hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`
