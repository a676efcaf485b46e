import { createHash } from 'node:crypto'
import { success } from '../../shared/http/no-store.ts'
import type { PublicUrl } from '../../shared/http/origin.ts'
import { crossOriginMessage, isCrossOrigin } from '../../shared/http/origin.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { noPasswordLogin } from '../login.ts'
import { accountNotChanged, accountNotRead, checkPassword, type OwnAccountContext, readStrings } from './own-account.ts'
import type { InvitedUser } from './store.ts'

interface InvitationContext
  extends Pick<OwnAccountContext, 'store' | 'throttle' | 'hash' | 'passwordLogin' | 'clock' | 'audit'> {
  readonly addressOf: ((request: Request) => string | undefined) | undefined
  readonly publicUrl: PublicUrl
}

/** Hex SHA-256 of the secret in the link of an invitation: what a store keeps. */
export const hashInvitation = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Creates the handlers of invitations. Their callers have no session: the secret in the path is the credential. */
export const createInvitations = (context: InvitationContext) => {
  const { store, throttle, clock, audit, addressOf, publicUrl } = context

  /** Throws Problem 404. Attempts with an unknown secret are counted by network, as failed logins are. */
  const find = async (request: Request, secret: string): Promise<InvitedUser & { readonly hash: string }> => {
    const hash = hashInvitation(secret)
    const invited = await throttle.runUnnamed(addressOf?.(request), () =>
      storeCall(store.invitedUser(hash, clock.now()), accountNotRead),
    )
    if (!invited) throw notValid()
    return { ...invited, hash }
  }

  return {
    async show(request: Request, secret: string): Promise<Response> {
      const { name, expiresAt } = await find(request, secret)
      return success({ invitation: { name, expires_at: new Date(expiresAt).toISOString() } })
    },

    async redeem(request: Request, secret: string): Promise<Response> {
      if (!context.passwordLogin) throw noPasswordLogin
      const { user, name, hash } = await find(request, secret)
      if (isCrossOrigin(request, publicUrl)) throw new Problem(403, crossOriginMessage)
      const [password] = await readStrings(request, 'password')
      checkPassword(password, name)
      const passwordHash = await context.hash(password, { name: user })
      // Of two requests at once, one sets the password.
      const redeemed = await storeCall(store.redeemInvitation(hash, passwordHash, clock.now()), accountNotChanged)
      if (!redeemed) throw notValid()
      const event = { action: 'user.password', user, target: { kind: 'user', id: user }, reason: 'invitation' } as const
      await audit.record(event, request)
      return success({ user: { id: redeemed.user, name: redeemed.name } })
    },
  }
}

const notValid = () =>
  new Problem(404, 'this invitation is not valid: it was used, replaced or ended, or it has expired', {
    event: { action: 'access.refuse', target: { kind: 'invitation' } },
  })
