import { randomUUID } from 'node:crypto'
import { type AdminFixture, openAdminFixture } from './admin/fixture.ts'

/** A default server whose upstream of the library is of the kind ark. */
export const openFaceFixture = (environment: Record<string, string> = {}): Promise<AdminFixture> =>
  openAdminFixture(({ ark }) => ({
    MEDIA_UPSTREAM_KIND: 'ark',
    MEDIA_UPSTREAM_URL: ark.url,
    MEDIA_UPSTREAM_ACCESS_KEY: ark.accessKey,
    MEDIA_UPSTREAM_SECRET_KEY: ark.secretKey,
    MEDIA_UPSTREAM_LIMITS: '{}',
    ...environment,
  }))

/** A group of a person whom ann has invited, with an asset that two videos have used: one of ann, and one of a borrower. */
export const addFace = async ({ store, emulator, admin }: AdminFixture, name: string): Promise<string> => {
  const { id: group } = emulator.library.addGroup({ name, type: 'LivenessFace' })
  await store.adoptGroup({ id: group, user: admin.id, type: 'LivenessFace', name, createdAt: Date.now() })
  const { id } = emulator.library.addAsset({ groupId: group, name: 'portrait', status: 'Active' })
  const verification = randomUUID()
  const at = Date.now()
  await store.addVerification({
    ...{ id: verification, user: admin.id, kind: 'ark', status: 'waiting_user', createdAt: at },
    ...{ expiresAt: at + 1e6, dueAt: at + 1e9 },
  })
  await store.recordConsent({ group, verification, at })
  for (const [task, user] of [
    ['task-of-ann', admin.id],
    ['task-of-a-borrower', 'somebody'],
  ] as const)
    await store.recordConsentUse({ task, user, assets: [{ id, group }], at })
  return group
}
