import { paths } from '../api/paths.js'

/**
 * Who has asked for something, and when.
 * @typedef {object} Act
 * @property {string} Time
 * @property {'person' | 'owner' | 'admin'} By
 * @property {string} [User] id. Absent for the person
 * @property {string} [LinkFrom] id of the user who has made the person's link
 */
/**
 * The consent of the person of a group.
 * @typedef {object} Consent
 * @property {string} GroupId
 * @property {'active' | 'withdrawn' | 'deleting' | 'deleted'} Status
 * @property {{ VerificationId: string, User: string, Time: string }} [Invitation]
 * @property {string} [VerifyTime]
 * @property {string} [LastUseTime]
 * @property {Act} [Withdrawal]
 * @property {Act & { AssetsTime?: string, ResultsTime?: string, GroupTime?: string, Assets: number, Results: number, Uses: number }} [Deletion]
 */
/**
 * A video task that has used the group.
 * @typedef {object} Use
 * @property {string} TaskId
 * @property {string} User id
 * @property {string} UseTime
 * @property {string} [Status]
 * @property {'none' | 'kept' | 'removed'} Result
 */

/** @param {string} group id */
export const consentPath = (group) => `${paths.consents}/${encodeURIComponent(group)}/consent`

/** Where anybody finds the public keys that verify the signed records. */
export const keysPath = `${paths.faceVerification}/consent-keys`
