/**
 * Who has acted on a consent: the person, or the owner of the group or an admin for the person.
 *
 * The person is who has a link. `linkFrom`: id of the user who has made it. Undefined: the person got it when they came
 * back from the face verification. `user` of an admin is undefined for the command line, which has no login.
 */
export type ConsentActor =
  | { readonly by: 'person'; readonly linkFrom?: string }
  | { readonly by: 'owner'; readonly user: string }
  | { readonly by: 'admin'; readonly user?: string }

/** What somebody has asked for. Times are milliseconds since 1970. */
export interface ConsentAct {
  readonly at: number
  readonly actor: ConsentActor
}

/**
 * The consent of a person to the use of their face: of one group of type `LivenessFace`. It outlives the group. Times
 * are milliseconds since 1970.
 */
export interface Consent {
  /** Id of the group. */
  readonly group: string
  /** Id of the user who owns the group, or was the last to own it. */
  readonly owner: string
  /** The invitation. Undefined: the group was not made by a face verification of the gateway. */
  readonly invitation?: {
    /** Id of the face verification. */
    readonly verification: string
    /** Id of the user who has started it. */
    readonly user: string
    readonly at: number
  }
  /** When the upstream was known to have verified the person. Undefined: it is not known. */
  readonly verifiedAt?: number
  /** When an asset of the group was last sent in a video task. */
  readonly usedAt?: number
  readonly withdrawal?: ConsentAct
  readonly deletion?: ConsentDeletion
}

/** The deletion of what a consent was about. Times are milliseconds since 1970; undefined: it goes on. */
export interface ConsentDeletion extends ConsentAct {
  readonly assetsAt?: number
  readonly resultsAt?: number
  readonly groupAt?: number
  /** Assets, and results of tasks, that were deleted. */
  readonly assets: number
  readonly results: number
  /** Tasks that had used the group, of which the ledger keeps no more than the number. */
  readonly uses: number
}

/** An asset of a person. */
export interface PersonAsset {
  readonly id: string
  readonly group: string
}

/** A use that is about to begin. */
export interface NewConsentUse {
  /** Id of the video task. */
  readonly task: string
  /** Id of the user of the task: the owner of the group, or a borrower. */
  readonly user: string
  readonly assets: readonly PersonAsset[]
  readonly at: number
}

/** A use that was recorded: a video task that was sent. */
export interface ConsentUse {
  readonly task: string
  readonly user: string
  readonly assets: readonly string[]
  /** When it was last about to be sent. */
  readonly at: number
  /** The status of the task, the last one if it has been deleted. Undefined: it is not known. */
  readonly status?: string
  readonly endedAt?: number
  /** Whether the gateway still has the task, and so its result. */
  readonly isKept: boolean
}

/** A task that has used a group, and that the gateway still has. */
export interface ConsentTask {
  readonly id: string
  readonly user: string
  /** Whether it has ended. */
  readonly hasEnded: boolean
}

/** What a step of a deletion has done. */
export interface ConsentDeletionStep {
  readonly group: string
  /** Number of assets, and of results, that were deleted. */
  readonly assets?: number
  readonly results?: number
  /** When all of that part were deleted. */
  readonly assetsAt?: number | undefined
  readonly resultsAt?: number | undefined
  readonly groupAt?: number | undefined
  /** When to go on. Without it, and with all three times, the deletion has ended. */
  readonly dueAt?: number
}

/**
 * Store port: the consent ledger. `sluice/store` implements it on PostgreSQL and SQLite.
 *
 * Each method must resolve or reject within a deadline of the store.
 */
export interface ConsentStore {
  /**
   * Records that the person of a face verification has been verified, with the link that the person was given. A second
   * verification of the same group adds a link and changes nothing else.
   */
  recordConsent(consent: { readonly group: string; readonly verification: string; readonly at: number }): Promise<void>
  /**
   * Adds a link for the person, by the hash of its secret, which a user has made. False: the group has the maximum of
   * links.
   */
  addConsentLink(link: {
    readonly group: string
    readonly owner: string
    readonly hash: string
    readonly madeBy: string
    readonly at: number
  }): Promise<boolean>
  /**
   * The consent of a group, also of one that nobody was invited to. Undefined: it is no group of a person. `owner` is
   * the present owner of the group, if there is one.
   */
  consentOf(group: string): Promise<Consent | undefined>
  /** The consent of the person who has a link, and who has made the link, as in `ConsentActor`. */
  consentByLink(hash: string): Promise<(Consent & { readonly linkFrom?: string }) | undefined>
  hasWithdrawn(group: string): Promise<boolean>
  /**
   * Records that assets of persons are used by a task that is about to be sent. False: one of the persons has withdrawn
   * the consent, or the group has no owner, and nothing may be sent.
   *
   * The record and a withdrawal exclude each other: a use that is recorded comes before the withdrawal, and no other
   * does.
   */
  recordConsentUse(use: NewConsentUse): Promise<boolean>
  /** Tasks that have used a group, the newest first. @param after only tasks before the one with this id */
  consentUses(
    group: string,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly ConsentUse[]>
  /** Counts them, up to `max`. */
  countConsentUses(group: string, max: number): Promise<number>
  /**
   * Withdraws a consent, in one transaction with what follows from it: the group is lent no more, and tasks that wait
   * and use it fail. Does nothing for a consent that has been withdrawn before. An event is recorded for the owner.
   *
   * @param owner the owner of the group, for a group without a consent
   */
  withdrawConsent(consent: Pick<Consent, 'group' | 'owner'>, act: ConsentAct): Promise<void>
  /** Asks for the deletion of what a withdrawn consent was about. Does nothing if somebody has asked before. */
  requestConsentDeletion(group: string, act: ConsentAct): Promise<void>
  /** Consents whose deletion is due, the longest overdue first. */
  dueConsentDeletions(now: number, max: number): Promise<readonly Consent[]>
  /** Tasks that have used a group, and have a result or may get one. */
  consentTasks(group: string, max: number): Promise<readonly ConsentTask[]>
  /**
   * Records what a step of a deletion has done. With the results, the ledger keeps the number of uses alone. With the
   * last of the results and assets, an event is recorded for the owner.
   */
  noteConsentDeletion(step: ConsentDeletionStep): Promise<void>
}
