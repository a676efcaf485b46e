/**
 * The scopes of a token: what its holder may do. They add up.
 *
 * - `media`: the asset library, uploads and events
 * - `text`: text generation
 * - `video`: video generation
 * - `read`: requests of every family that change and cost nothing
 * - `admin`: the admin API, while the user is an admin
 * - `provision`: users, teams, tokens and limits below the admin API, while the user is an admin
 */
export const scopes = ['media', 'text', 'video', 'read', 'admin', 'provision'] as const

/** A scope of a token. */
export type Scope = (typeof scopes)[number]

/** The scopes of a token that names none. */
export const defaultScopes: readonly Scope[] = ['media', 'text', 'video']

/** The scopes that users may give to their own tokens. Others are given by an admin. */
export const ownScopes: readonly Scope[] = ['media', 'text', 'video', 'read']

/** Whether a word is a scope. */
export const isScope = (word: unknown): word is Scope => (scopes as readonly unknown[]).includes(word)

/** What a user may do: an `admin` may also use the admin API. */
export type Role = 'user' | 'admin'
