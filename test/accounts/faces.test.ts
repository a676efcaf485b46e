import { expect, setDefaultTimeout, test } from 'bun:test'
import { Elysia } from 'elysia'
import { assetLibrary } from '../../plugins/asset-library/index.ts'
import { faceVerification } from '../../plugins/face-verification/index.ts'
import { ark, rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'

setDefaultTimeout(60_000)

const base = 'https://sluice.example/api/media/face-verifications'
const names = ['account-0', 'account-1'] as const

/** No two emulators of a database give the same ids. */
let accountNumber = 0

const identify = async (request: Request) => {
  const user = request.headers.get('x-user')
  return user === null ? undefined : { user }
}

/** Face verification of a library with two accounts, for a new user. */
const openFaces = async (kind: 'rest' | 'ark', store: Store) => {
  const emulators = await Promise.all(names.map(() => startEmulator({ account: accountNumber++ })))
  const { upstream, accountFor } = assetLibrary({
    ...{ kind: undefined, store, identify, secrets: ['a secret of the test suite'] },
    accounts: emulators.map((emulator, index) => ({
      name: names[index] ?? '',
      kind: kind === 'ark' ? ark(emulator.ark) : rest(emulator.rest),
    })),
  })
  const publicUrl = 'https://sluice.example'
  const app = new Elysia().use(faceVerification({ upstream, accountFor, store, identify, publicUrl }))
  const user = crypto.randomUUID()
  const ask = async (url: string, init: RequestInit = {}) => {
    const response = await app.handle(new Request(url, { ...init, headers: { 'x-user': user } }))
    return { status: response.status, text: await response.text() }
  }
  return {
    ...{ emulators, user, ask },
    /** Starts a verification, and lets its person succeed on an account. */
    async verify(emulator: (typeof emulators)[number]): Promise<string> {
      const created = await ask(base, { method: 'POST' })
      expect([created.status, created.text]).toEqual([200, created.text])
      const token = emulator.face.sessions().at(-1)?.bytedToken ?? ''
      const redirect = emulator.face.finish(token, 'succeed') ?? ''
      if (kind === 'ark') await ask(redirect)
      else await fetch(redirect)
      return JSON.parse(created.text).verification_id
    },
    async [Symbol.asyncDispose]() {
      for (const emulator of emulators) await emulator.stop()
    },
  }
}

repeatOnDatabases('a face verification', (database) => {
  for (const kind of ['rest', 'ark'] as const) {
    for (const [index, account] of names.entries()) {
      test(`of kind ${kind} has its session, its result and its group on ${account}`, async () => {
        const store = await database.open()
        await using faces = await openFaces(kind, store)
        const { emulators, user, ask } = faces
        const [own, other] = index === 0 ? emulators : emulators.toReversed()
        if (!own || !other) throw new Error('there are two emulators')
        // Where the user has a group, the next one goes too.
        const id = crypto.randomUUID()
        await store.adoptGroup({ id, user, type: 'AIGC', name: 'x', account, createdAt: Date.now() })
        const verification = await faces.verify(own)
        const { text } = await ask(`${base}/${verification}`)
        const { status, group_id: group } = JSON.parse(text)
        expect({ status, known: own.library.group(group) !== undefined }).toEqual({ status: 'verified', known: true })
        expect(await store.group(group)).toMatchObject({ user, type: 'LivenessFace', account })
        // The placement of groups may ask each account whether it is full.
        expect(other.calls.filter(({ action }) => action !== 'GetAssetQuota')).toEqual([])
      })
    }
  }
})
