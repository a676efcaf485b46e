import { Problem } from '../../shared/problem.ts'

type OnAccount = { readonly account?: string | undefined }

/** Throws Problem 400 for a group in a body that is on another account: its id would go to the wrong one. */
export const requireSameAccount = (owner: OnAccount, named: OnAccount): void => {
  if (owner.account === named.account) return
  throw new Problem(
    400,
    `group_id is on another account: ${named.account ?? 'none'} instead of ${owner.account ?? 'none'}`,
  )
}
