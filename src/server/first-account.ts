import type { Store } from '../store/index.ts'

/** The configuration names another first account than the database: the server must not start. */
export class FirstAccountError extends Error {}

/**
 * Records which account is the first, and throws FirstAccountError when the record names another one. The groups of the
 * time before there were several accounts are on the first: with another one in its place, they would be looked for on
 * an account that does not have them.
 *
 * @param accounts those of `MEDIA_UPSTREAMS`. Undefined: there is one account, or none
 */
export const checkFirstAccount = async (
  accounts: readonly { readonly name: string }[] | undefined,
  store: Pick<Store, 'recordFirstAccount'>,
): Promise<void> => {
  const [first] = accounts ?? []
  if (!first) return
  const recorded = await store.recordFirstAccount(first.name)
  if (recorded === first.name) return
  throw new FirstAccountError(
    `the first account of MEDIA_UPSTREAMS is ${first.name}, but must be ${recorded}, which has the groups of the time ` +
      `before there were several. Put ${recorded} first; only if that account has got the name ${first.name}, run: ` +
      `admin account first ${first.name}`,
  )
}
