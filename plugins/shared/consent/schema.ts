import { Type } from '@sinclair/typebox'
import type { SchemaOf } from '../plugin/openapi.ts'
import type { DocumentSignature } from './signature.ts'

/**
 * - `active`: the group may be used.
 * - `withdrawn`: it may not.
 * - `deleting`: what there is of it is being deleted.
 * - `deleted`: the assets and the results are gone. The upstream may keep the empty group until its own authorization
 *   of the person has lapsed.
 */
export type ConsentStatus = 'active' | 'withdrawn' | 'deleting' | 'deleted'

/** Who has asked for something, and when. Times are ISO 8601 with a UTC offset. */
export interface ConsentActView {
  /** When somebody asked for it. */
  readonly Time: string
  /** `person`: with the link. `owner`, `admin`: for the person. */
  readonly By: 'person' | 'owner' | 'admin'
  /** Id of the user. Absent for the person, and for an admin at the command line. */
  readonly User?: string
  /** Id of the user who has made the person's link. Absent: the person got it from the face verification. */
  readonly LinkFrom?: string
}

/** A consent, as its owner and the person see it. Times are ISO 8601 with a UTC offset. */
export interface ConsentView {
  readonly GroupId: string
  /** Only an active consent allows a use. */
  readonly Status: ConsentStatus
  /** Absent: the group was not made by a face verification. */
  readonly Invitation?: {
    readonly VerificationId: string
    /** Id of the user who has invited the person. */
    readonly User: string
    /** When the face verification was started. */
    readonly Time: string
  }
  /** When the person was verified. Absent: it is not known. */
  readonly VerifyTime?: string
  /** When an asset of the group was last sent in a video task. */
  readonly LastUseTime?: string
  readonly Withdrawal?: ConsentActView
  readonly Deletion?: ConsentActView & {
    /** When all assets were deleted. Absent: it goes on. */
    readonly AssetsTime?: string
    /** When all results were deleted. Absent: it goes on. */
    readonly ResultsTime?: string
    /** When the group was deleted. Absent: it goes on, or the upstream keeps the empty group for now. */
    readonly GroupTime?: string
    /** Number of assets that were deleted. */
    readonly Assets: number
    /** Number of results of tasks that were deleted. */
    readonly Results: number
    /** Number of tasks that had used the group. */
    readonly Uses: number
  }
}

/** A task that was sent with assets of the group. Times are ISO 8601 with a UTC offset. */
export interface ConsentUseView {
  /** Id of the video task. */
  readonly TaskId: string
  /** Id of its user: the owner of the group, or a borrower. */
  readonly User: string
  readonly AssetIds: readonly string[]
  /** When it was sent. */
  readonly UseTime: string
  /** The last status of the task. Absent: it is not known. */
  readonly Status?: string
  /** When the task ended. */
  readonly EndTime?: string
  /** `none`: not yet, or never. `kept`: with the task. `removed`: it was deleted. */
  readonly Result: 'none' | 'kept' | 'removed'
}

/** A consent and its uses as one signed document. */
export interface SignedConsent {
  readonly Type: 'sluice.consent.1'
  /** ISO 8601. */
  readonly ExportTime: string
  readonly Consent: ConsentView
  /** The newest first, up to 10,000. */
  readonly Uses: readonly ConsentUseView[]
  /** Whether there are more uses than the document has. */
  readonly HasMoreUses: boolean
  /** Over the canonical JSON (RFC 8785) of the document without this member. */
  readonly signature: DocumentSignature
}

const time = (description: string) => Type.String({ description: `${description}. ISO 8601 with a UTC offset` })
const optionalTime = (description: string) => Type.Optional(time(description))
const count = (description: string) => Type.Integer({ minimum: 0, description })

const act = {
  Time: time('When somebody asked for it'),
  By: Type.Union([Type.Literal('person'), Type.Literal('owner'), Type.Literal('admin')], {
    description: 'The person with the link; the owner of the group, or an admin, for the person',
  }),
  User: Type.Optional(
    Type.String({ description: 'Id of the user. Absent for the person, and for an admin at the command line' }),
  ),
  LinkFrom: Type.Optional(
    Type.String({
      description:
        "Id of the user who has made the person's link. Absent: the person got it from the face verification",
    }),
  ),
}

export const consentSchema: SchemaOf<ConsentView> = Type.Object(
  {
    GroupId: Type.String(),
    Status: Type.Union(
      [Type.Literal('active'), Type.Literal('withdrawn'), Type.Literal('deleting'), Type.Literal('deleted')],
      { description: 'Only an active consent allows a use' },
    ),
    Invitation: Type.Optional(
      Type.Object(
        {
          VerificationId: Type.String(),
          User: Type.String({ description: 'Id of the user who has invited the person' }),
          Time: time('When the face verification was started'),
        },
        { description: 'Absent: the group was not made by a face verification' },
      ),
    ),
    VerifyTime: optionalTime('When the person was verified. Absent: it is not known'),
    LastUseTime: optionalTime('When an asset of the group was last sent in a video task'),
    Withdrawal: Type.Optional(Type.Object(act)),
    Deletion: Type.Optional(
      Type.Object({
        ...act,
        AssetsTime: optionalTime('When all assets were deleted. Absent: it goes on'),
        ResultsTime: optionalTime('When all results were deleted. Absent: it goes on'),
        GroupTime: optionalTime(
          'When the group was deleted. Absent: it goes on, or the upstream keeps the empty group for now',
        ),
        Assets: count('Assets that were deleted'),
        Results: count('Results of tasks that were deleted'),
        Uses: count('Tasks that had used the group'),
      }),
    ),
  },
  { title: 'Consent' },
)

export const consentUseSchema: SchemaOf<ConsentUseView> = Type.Object(
  {
    TaskId: Type.String({ description: 'Id of the video task' }),
    User: Type.String({
      description: 'Id of its user: the owner of the group, or a borrower, also one who has it through a team',
    }),
    AssetIds: Type.Array(Type.String()),
    UseTime: time('When it was sent'),
    Status: Type.Optional(Type.String({ description: 'The last status of the task. Absent: it is not known' })),
    EndTime: optionalTime('When the task ended'),
    Result: Type.Union([Type.Literal('none'), Type.Literal('kept'), Type.Literal('removed')], {
      description: 'Whether there is a result: not yet or never, kept with the task, or deleted',
    }),
  },
  { title: 'ConsentUse' },
)

export const consentExportSchema: SchemaOf<SignedConsent> = Type.Object(
  {
    Type: Type.Literal('sluice.consent.1'),
    ExportTime: Type.String({ description: 'ISO 8601' }),
    Consent: consentSchema,
    Uses: Type.Array(consentUseSchema, { description: 'The newest first, up to 10,000' }),
    HasMoreUses: Type.Boolean({ description: 'Whether there are more uses than the document has' }),
    signature: Type.Object(
      {
        algorithm: Type.Literal('Ed25519'),
        key: Type.String({ description: 'Id of one of the published keys' }),
        value: Type.String({ description: 'The signature (RFC 8032) in lower-case hexadecimal' }),
      },
      { description: 'Over the canonical JSON (RFC 8785) of the document without this member' },
    ),
  },
  { title: 'ConsentExport' },
)
