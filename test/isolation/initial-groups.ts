import fc from 'fast-check'
import type { Fixture } from './fixture.ts'
import { names } from './list-request.ts'
import type { GroupType, Model } from './model.ts'

/** The groups and assets of the users at the start of a sequence. */
export interface InitialGroups {
  readonly groups: readonly { readonly user: number; readonly type: GroupType; readonly assets: readonly string[] }[]
}

export const initialGroups = (): fc.Arbitrary<InitialGroups> =>
  fc.record({
    groups: fc.array(
      fc.record({
        user: fc.nat(2),
        type: fc.constantFrom<GroupType>('AIGC', 'AIGC', 'LivenessFace'),
        assets: fc.array(fc.constantFrom<string>(...names), { maxLength: 4, size: 'max' }),
      }),
      { maxLength: 9, size: 'max' },
    ),
  })

/** Adds them without a request to the gateway: as groups that an administrator adopts. */
export const addInitialGroups = async (
  { groups }: InitialGroups,
  model: Model,
  { emulator, store, now }: Fixture,
): Promise<void> => {
  const { library } = emulator
  for (const [at, { user, type, assets }] of groups.entries()) {
    const name = `${names[at % 3]} ${at}`
    const createTime = now() - at * 700
    const { id } = library.addGroup({ name, type, createTime })
    const owner = model.users[user]?.id ?? ''
    await store.adoptGroup({ id, user: owner, type, name, createdAt: createTime })
    model.groups.set(id, {
      ...{ id, type, owner: user, creator: user, name, description: undefined, recordedAt: createTime },
      upstream: { name, description: '' },
    })
    for (const [nth, name] of assets.entries()) {
      const asset = library.addAsset({ groupId: id, name, createTime: createTime - nth * 500 })
      model.assets.set(asset.id, { id: asset.id, group: id, name, recorded: false, deleted: false })
    }
  }
}
