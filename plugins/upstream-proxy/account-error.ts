import { UpstreamUnreachableError } from '../shared/upstream/upstream-error.ts'

/** The operation is about objects of an account that this server does not have (any more). Nothing was sent. */
export const otherAccount = (account: string | undefined): UpstreamUnreachableError =>
  unreachableAccount(new UpstreamUnreachableError(new Error('the account is not configured'), false), account)

/** The error of an upstream that does not respond, with the name of the account that is missing. */
export const unreachableAccount = (
  { cause, sent, message }: UpstreamUnreachableError,
  account: string | undefined,
): UpstreamUnreachableError =>
  new UpstreamUnreachableError(cause, sent, account === undefined ? message : `${message}: account ${account}`)
