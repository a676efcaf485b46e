export const upstreamStates = ['reachable', 'not called yet', "rejects the gateway's key", 'unreachable'] as const

export type UpstreamState = (typeof upstreamStates)[number]

/** An upstream, as the process that answers has seen it. */
export interface UpstreamView {
  readonly name: string
  /** `rest`, `ark`, `text` or `video`. */
  readonly kind: string
  readonly state: UpstreamState
  /** Since when it has this state. Null: it was not called yet. */
  readonly since: string | null
  /** The last call that failed. `status` null: there was no response. */
  readonly last_error: { readonly at: string; readonly status: number | null; readonly message: string } | null
  /** Calls in the last minute, and those that failed. */
  readonly calls: number
  readonly errors: number
  readonly limits: readonly {
    readonly action: string
    readonly per_second: number
    /** Calls in the last second. */
    readonly calls: number
    /** Calls that wait for a place. */
    readonly waiting: number
  }[]
  /** The slots of video tasks, of all processes. */
  readonly slots: readonly {
    /** The model or endpoint. */
    readonly pool: string
    /** Null: no maximum is set. */
    readonly slots: number | null
    readonly running: number
    readonly waiting: number
    readonly users: readonly {
      readonly user: string
      readonly user_name: string | null
      readonly running: number
      readonly waiting: number
    }[]
  }[]
  /** The slots of the assets of an account, of all processes. Null: assets stay where they are. */
  readonly asset_slots: {
    /** Null: as many as the quota of the account says, which is not known yet. */
    readonly slots: number | null
    readonly used: number
    /** Those of assets of persons: nobody can take them away. */
    readonly persons: number
    /** Others that nobody can take now, because something uses the asset. */
    readonly pinned: number
    /** Video tasks and requests for which there is none. */
    readonly waiting: number
    /** When an asset last lost its slot to another one. Null: none has. */
    readonly last_evicted_at: string | null
    /** The users with the most slots. */
    readonly users: readonly {
      readonly user: string
      readonly user_name: string | null
      readonly used: number
      readonly persons: number
    }[]
  } | null
}

/** The settings in force, by variable. A secret is `set` or `unset`. */
export type SettingsView = Readonly<Record<string, unknown>>
