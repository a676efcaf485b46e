import { systemClock } from '../../plugins/shared/clock.ts'
import { type Log, noLog } from '../../plugins/shared/problem.ts'
import { type MediaAccount, rest } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'

/** A gateway with one emulator for each account. */
export interface AccountsFixture extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly store: Store
  readonly emulators: readonly Emulator[]
  readonly ann: User
  readonly bob: User
  /** Lines of the log, as JSON. */
  readonly log: readonly string[]
}

export interface AccountsOptions {
  /** Default: `a` and `b`. */
  readonly names?: readonly string[]
  readonly emulator?: (index: number) => EmulatorOptions
  readonly account?: (index: number) => Partial<MediaAccount>
  readonly gateway?: TestGatewayOptions
}

/** Starts an emulator for each account, and a gateway with two users. */
export const openAccounts = async (options: AccountsOptions = {}): Promise<AccountsFixture> => {
  const { names = ['a', 'b'] } = options
  const emulators = await Promise.all(
    names.map((_, index) => startEmulator({ processingMs: 0, account: index, ...options.emulator?.(index) })),
  )
  const lines: string[] = []
  const write = (fields: object, message: string): void => {
    lines.push(JSON.stringify({ ...fields, message }, (_, value) => (value instanceof Error ? value.message : value)))
  }
  const log: Log = { ...noLog, info: write, warn: write, error: write }
  const [first] = emulators
  if (!first) throw new Error('there must be an account')
  const gateway = await startGateway({
    log,
    emulator: first,
    kind: undefined,
    accounts: names.map((name, index) => ({ name, kind: kindOf(emulators[index]), ...options.account?.(index) })),
    video: {
      upstream: undefined,
      accounts: names.map((name, index) => ({ name, upstream: emulators[index]?.video })),
      ...options.gateway?.video,
    },
    ...withoutVideo(options.gateway),
  })
  const users = options.gateway?.store ? Math.random().toString(36).slice(2) : ''
  return {
    ...{ gateway, store: gateway.store, emulators, log: lines },
    ann: await gateway.addUser(`ann ${users}`),
    bob: await gateway.addUser(`bob ${users}`),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      for (const emulator of emulators) await emulator.stop()
    },
  }
}

const kindOf = (emulator: Emulator | undefined): MediaAccount['kind'] => {
  if (!emulator) throw new Error('there is no emulator for the account')
  return rest(emulator.rest)
}

const withoutVideo = ({ video: _, ...options }: TestGatewayOptions = {}): TestGatewayOptions => options

/** A group of a user that lies on an account: made at the emulator, and recorded. */
export const groupOn = async (
  { store, emulators }: Pick<AccountsFixture, 'store' | 'emulators'>,
  { id: user }: User,
  account: string,
  name: string,
  names: readonly string[] = ['a', 'b'],
): Promise<string> => {
  const emulator = emulators[names.indexOf(account)]
  if (!emulator) throw new Error(`there is no account ${account}`)
  const { id } = emulator.library.addGroup({ name, description: `described by ${account}` })
  const failure = await store.adoptGroup({ id, user, type: 'AIGC', name, account, createdAt: systemClock.now() })
  if (failure) throw new Error(failure)
  return id
}
