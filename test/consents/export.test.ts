import { expect, test } from 'bun:test'
import { exportConsent } from '../../plugins/shared/consent/export.ts'
import { createDocumentSigner, verifyDocument } from '../../plugins/shared/consent/signature.ts'
import type { ConsentStore } from '../../plugins/shared/consent/store.ts'
import { content, openFaceFixture } from './fixture.ts'

const secrets = ['a secret of the test suite']

test('the export has the consent and its uses, and anybody can verify it with the published key', async () => {
  await using face = await openFaceFixture()
  const { ann, bob, gateway } = face.fixture
  const tasks = [await ann.created('x', { content: content(face.asset) })]
  tasks.unshift(await bob.created('x', { content: content(face.asset) }))
  await face.withdraw()
  const { text, json, headers } = await ann.ask('GET', `/assets/groups/${face.group}/consent/export`)
  expect(headers.get('content-disposition')).toBe('attachment; filename="consent.json"')
  expect(json).toMatchObject({
    ...{ Type: 'sluice.consent.1', HasMoreUses: false },
    Consent: { GroupId: face.group, Status: 'withdrawn', Withdrawal: { By: 'owner', User: ann.id } },
    Uses: [
      { TaskId: tasks[0], User: bob.id, AssetIds: [face.asset] },
      { TaskId: tasks[1], User: ann.id },
    ],
  })
  const published = await fetch(`${gateway.url}/api/media/face-verifications/consent-keys`)
  const { keys } = (await published.json()) as { keys: ReturnType<typeof createDocumentSigner>['keys'] }
  expect(verifyDocument(text, keys)).toBe(true)
  // With Web Crypto alone, as the README says.
  const { signature, ...document } = json
  const key = await crypto.subtle.importKey('jwk', keys[0] as object, 'Ed25519', false, ['verify'])
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort()
              .map(([name, member]) => [name, sorted(member)]),
          )
        : value
  const signed = new TextEncoder().encode(JSON.stringify(sorted(document)))
  expect(await crypto.subtle.verify('Ed25519', key, Buffer.from(signature.value, 'hex'), signed)).toBe(true)
})

test('any changed byte fails, and so does any other key', async () => {
  const signer = createDocumentSigner(secrets)
  const text = signer.sign({
    Type: 'sluice.consent.1',
    Uses: [
      { TaskId: 'a', n: 1 },
      { TaskId: 'ä', none: null },
    ],
  })
  expect(verifyDocument(text, signer.keys)).toBe(true)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [1, 0x20]) {
      const changed = Buffer.from(bytes)
      changed[at] = (bytes[at] ?? 0) ^ flip
      expect([at, flip, verifyDocument(changed.toString(), signer.keys)]).toEqual([at, flip, false])
    }
    const shorter = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
    expect([at, verifyDocument(shorter.toString(), signer.keys)]).toEqual([at, false])
  }
  for (const wrong of [`${text}\n`, ` ${text}`, '', '{}', 'null', '[]', '{"signature":null}'])
    expect(verifyDocument(wrong, signer.keys)).toBe(false)
  expect(verifyDocument(text, createDocumentSigner(['another secret of the suite']).keys)).toBe(false)
  expect(verifyDocument(text, [])).toBe(false)
})

test('a rotated secret signs with a new key, and the old one still verifies', () => {
  const old = createDocumentSigner(secrets)
  const rotated = createDocumentSigner(['a newer secret of the suite', ...secrets])
  const text = old.sign({ a: 1 })
  expect(verifyDocument(text, rotated.keys)).toBe(true)
  expect(JSON.parse(rotated.sign({ a: 1 })).signature.key).toBe(rotated.keys[0]?.kid)
  expect(rotated.keys[1]).toEqual(old.keys[0] as (typeof old.keys)[number])
  expect(old.keys[0]?.x).not.toContain(secrets[0] as string)
})

test('an export of many uses is read in steps, and has the newest 10,000', async () => {
  const use = (nth: number) => ({ task: `t${99_999 - nth}`, user: 'u', assets: ['a'], at: 1, isKept: true })
  const calls: number[] = []
  const store = {
    consentUses: async (_: string, { after, limit }: { after?: string | undefined; limit: number }) => {
      calls.push(limit)
      const from = after === undefined ? 0 : 99_999 - Number(after.slice(1)) + 1
      return Array.from({ length: Math.min(limit, total - from) }, (_, index) => use(from + index))
    },
  } as unknown as ConsentStore
  const signer = createDocumentSigner(secrets)
  let total = 1_200
  const consent = { group: 'g', owner: 'o' }
  const exported = async () => {
    const text = await (await exportConsent(consent, { store, signer, now: 1 })).text()
    expect(verifyDocument(text, signer.keys)).toBe(true)
    const { Uses, HasMoreUses } = JSON.parse(text)
    return { uses: Uses.length, last: Uses.at(-1)?.TaskId, HasMoreUses }
  }
  expect(await exported()).toEqual({ uses: 1_200, last: 't98800', HasMoreUses: false })
  expect(calls).toHaveLength(3)
  total = 10_001
  expect(await exported()).toEqual({ uses: 10_000, last: 't90000', HasMoreUses: true })
  total = 0
  expect(await exported()).toEqual({ uses: 0, last: undefined, HasMoreUses: false })
})
