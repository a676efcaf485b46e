import type { Database } from '../../src/store/database/database.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import type { Fault } from './world.ts'

interface FaultContext {
  readonly store: Store
  readonly database: Database
}

const storeWith =
  (change: (context: FaultContext) => Partial<Store>) =>
  (context: FaultContext): Fault => ({ store: { ...context.store, ...change(context) } })

/** Runs `apply` with the body of a request to a path, and the id of its session's user, before the request. */
const onBody =
  (method: string, path: string, apply: (body: Readonly<Record<string, unknown>>, user: string) => Promise<void>) =>
  (): Fault => ({
    around: (handle) => async (request) => {
      if (request.method === method && new URL(request.url).pathname === path) {
        const who = await handle(new Request('http://localhost/api/session', { headers: request.headers }))
        const { user } = (await who.json()) as { readonly user?: { readonly id: string } }
        if (user) await apply((await request.clone().json()) as Readonly<Record<string, unknown>>, user.id)
      }
      return handle(request)
    },
  })

/** Defects that the model must find. The first five are those that other gateways have had. */
export const faults: Readonly<Record<string, (context: FaultContext) => Fault>> = {
  'a user makes tokens for others': ({ store, database }) => {
    let last = ''
    const addToken = async (token: Parameters<Store['addToken']>[0], max: number) => {
      const id = await store.addToken(token, max)
      last = id ?? ''
      return id
    }
    const around: Fault['around'] = (handle) => async (request) => {
      const isCreation = request.method === 'POST' && new URL(request.url).pathname === '/api/tokens'
      const body = isCreation ? ((await request.clone().json()) as { readonly user_id?: string }) : {}
      const response = await handle(request)
      if (body.user_id !== undefined && response.status === 200)
        await database.query(sql`update tokens set user_id = ${body.user_id} where id = ${last}`)
      return response
    }
    return { store: { ...store, addToken: addToken as Store['addToken'] }, around }
  },

  'a user takes over the token of another': (context) =>
    onBody('POST', '/api/tokens', async ({ id }, user) => {
      if (typeof id === 'string')
        await context.database.query(sql`update tokens set user_id = ${user} where id = ${id}`)
    })(),

  'a token uses models beyond its own': storeWith(({ store }) => ({
    ownerOf: async (hash) => {
      const owner = await store.ownerOf(hash)
      return owner && { user: owner.user, token: owner.token, scopes: owner.scopes ?? [], role: owner.role ?? 'user' }
    },
  })),

  'a user lists the tokens of all': storeWith(({ store }) => ({
    listTokens: async (_user, now = 0) =>
      (await store.listTokens()).filter(({ revokedAt, expiresAt }) => !revokedAt && (expiresAt ?? Infinity) > now),
  })),

  'a user raises the own limits': (context) =>
    onBody('PATCH', '/api/account', async ({ limits }, user) => {
      if (limits) await context.store.changeUser(user, { limits: JSON.stringify(limits) }, { now: 1 })
    })(),

  'a user becomes an admin': (context) =>
    onBody('PATCH', '/api/account', async ({ role }, user) => {
      if (role === 'admin') await context.store.changeUser(user, { role }, { now: 1 })
    })(),

  'a user gives an own token the scope of an admin': storeWith(({ store }) => ({
    addToken: ((token: Parameters<Store['addToken']>[0], max: number) =>
      store.addToken({ ...token, scopes: [...(token.scopes ?? []), 'admin'] }, max)) as Store['addToken'],
  })),

  'scopes are ignored': storeWith(({ store }) => ({
    ownerOf: async (hash) => {
      const owner = await store.ownerOf(hash)
      return owner && { ...owner, scopes: ['media', 'text', 'video'] }
    },
  })),

  'a reading token writes': storeWith(({ store }) => ({
    ownerOf: async (hash) => {
      const owner = await store.ownerOf(hash)
      return owner?.scopes?.includes('read') ? { ...owner, scopes: ['media', 'text', 'video'] } : owner
    },
  })),

  'a user revokes the token of another': storeWith(({ store }) => ({
    revokeToken: (id, now) => store.revokeToken(id, now),
  })),

  'a change of a token takes no effect in other processes': storeWith(() => ({ revision: (async () => 1) as never })),

  'an expired token works': storeWith(({ store }) => ({
    ownerOf: async (hash) => {
      const owner = await store.ownerOf(hash)
      if (!owner) return undefined
      const { expiresAt: _, ...rest } = owner
      return rest
    },
  })),

  'the secret before a rotation works for ever': storeWith(({ store, database }) => ({
    ownerOf: async (hash) => {
      const owner = await store.ownerOf(hash)
      const [old] = await database.query(sql`select expires_at from tokens where old_hash = ${hash}`)
      if (!owner || !old) return owner
      const { expiresAt: _, ...rest } = owner
      return rest
    },
  })),

  'the tokens of a disabled user work': storeWith(({ store, database }) => ({
    ownerOf: async (hash) => {
      const [found] = await database.query<{ user: string; token: string }>(
        sql`select user_id as "user", id as token from tokens where hash = ${hash} and revoked_at is null`,
      )
      return (await store.ownerOf(hash)) ?? found
    },
  })),

  'a new password ends no other session': storeWith(({ database }) => ({
    changeOwnPassword: async (user, { before, password }) => {
      const changed = await database.query(
        sql`update users set password = ${password} where id = ${user} and password = ${before} returning id`,
      )
      if (changed.length === 0) return false
      const [session] = await database.query(sql`select password_hash from sessions where user_id = ${user} limit 1`)
      if (!session) return true
      const digest = new Bun.CryptoHasher('sha256').update(password).digest('hex')
      await database.query(sql`update sessions set password_hash = ${digest} where user_id = ${user}`)
      return true
    },
  })),

  'a user ends the session of another': storeWith(({ database }) => ({
    endSessionOf: async (_user, id) =>
      (await database.query(sql`delete from sessions where id = ${id} returning id`)).length === 1,
  })),

  'a user lists the sessions of all': storeWith(({ database }) => ({
    listSessions: () =>
      database.query(sql`
        select id, created_at as "createdAt", created_at as "lastUsedAt", idle_until as "idleUntil", ends_at as "endsAt"
        from sessions`),
  })),

  'an invitation can be used twice': storeWith(({ store }) => ({
    redeemInvitation: async (hash, password, now) => {
      const invited = await store.invitedUser(hash, now)
      const redeemed = await store.redeemInvitation(hash, password, now)
      if (invited) await store.addInvitation(invited.user, { hash, createdAt: now, expiresAt: invited.expiresAt })
      return redeemed
    },
  })),

  'an expired invitation sets a password': storeWith(({ store }) => ({
    invitedUser: (hash) => store.invitedUser(hash, 0),
    redeemInvitation: (hash, password) => store.redeemInvitation(hash, password, 0),
  })),

  'a wrong current password is enough': storeWith(({ store }) => ({
    account: async (user) => {
      const account = await store.account(user)
      return account && { ...account, password: '#wrong' }
    },
    changeOwnPassword: async (user, change) => {
      const { password = '' } = (await store.account(user)) ?? {}
      return store.changeOwnPassword(user, { ...change, before: password })
    },
  })),

  'a disabled user logs in': storeWith(({ store, database }) => ({
    userByName: async (name) => {
      const user = await store.userByName(name)
      if (user?.disabledAt !== undefined)
        await database.query(sql`update users set disabled_at = null where id = ${user.id}`)
      return store.userByName(name)
    },
  })),

  'a group of another can be deleted': storeWith(({ store }) => {
    let current = ''
    return {
      ownerOf: async (hash) => {
        const owner = await store.ownerOf(hash)
        current = owner?.user ?? ''
        return owner
      },
      group: async (id) => {
        const group = await store.group(id)
        return group && { ...group, user: current }
      },
    }
  }),

  'a video of another is shown': storeWith(({ store, database }) => ({
    videoTask: async (_user, id) => {
      const [task] = await database.query(sql`select user_id from video_tasks where id = ${id}`)
      return store.videoTask(String(task?.user_id ?? ''), id)
    },
  })),
}
