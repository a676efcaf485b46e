import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arkLimits } from '../../plugins/upstream-proxy/index.ts'
import { readConfig } from '../../src/config.ts'

const read = (accounts: unknown, env: Record<string, string> = {}) =>
  readConfig({ MEDIA_UPSTREAMS: typeof accounts === 'string' ? accounts : JSON.stringify(accounts), ...env })

const accountsOf = (...parameters: Parameters<typeof read>) => {
  const config = read(...parameters)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config.media.accounts
}
const problemsOf = (...parameters: Parameters<typeof read>) => {
  const config = read(...parameters)
  return 'problems' in config ? config.problems : []
}

const one = { name: 'one', url: 'https://one.example/api/media/proxy', keyEnv: 'ONE_KEY' }
const two = {
  ...{ name: 'two', kind: 'ark', url: 'https://ark.example/', accessKeyEnv: 'TWO_ACCESS', secretKeyEnv: 'TWO_SECRET' },
  ...{ region: 'ap-southeast-1', project: 'films', slots: 50, videoUrl: 'https://video.example/api/v3' },
  videoKeyEnv: 'TWO_VIDEO',
}
const env = {
  ...{ ONE_KEY: 'key-of-one', TWO_ACCESS: 'access-of-two', TWO_SECRET: 'secret-of-two', TWO_VIDEO: 'video-key-of-two' },
}

test('MEDIA_UPSTREAMS has every setting of an account, in order, and its credentials are secrets', () => {
  const expected = [
    { name: 'one', upstream: { kind: 'rest', url: one.url, key: 'key-of-one' }, limits: {} },
    {
      name: 'two',
      upstream: {
        ...{ kind: 'ark', url: 'https://ark.example', accessKey: 'access-of-two', secretKey: 'secret-of-two' },
        ...{ region: 'ap-southeast-1', project: 'films' },
      },
      limits: arkLimits,
      slots: 50,
      video: { url: 'https://video.example/api/v3', key: 'video-key-of-two' },
    },
  ]
  expect(accountsOf([one, two], env)).toEqual(expected as never)
  expect(read([one, two], env)).toMatchObject({ secrets: Object.values(env) })
  const limits = accountsOf([one, two], { ...env, MEDIA_UPSTREAM_LIMITS: '{"GetAsset":2}' })?.map((each) => each.limits)
  expect(limits).toEqual([{ GetAsset: 2 }, { GetAsset: 2 }])
})

test('MEDIA_UPSTREAMS is read from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  const file = join(folder, 'accounts.json')
  writeFileSync(file, JSON.stringify([one]))
  expect(accountsOf(`@${file}`, env)).toHaveLength(1)
  expect(read(`@${file}`, env)).toMatchObject({ files: [file] })
  rmSync(folder, { recursive: true })
  expect(problemsOf(`@${file}`)).toEqual([
    'MEDIA_UPSTREAMS must be a JSON list of accounts, or @ and the path of a file with one',
  ])
})

test('MEDIA_UPSTREAMS and the settings of a single account exclude each other', () => {
  const single = {
    ...{ MEDIA_UPSTREAM_URL: 'https://x.example', MEDIA_UPSTREAM_KEY: 'key-of-x', MEDIA_UPSTREAM_KIND: 'rest' },
    ...{ MEDIA_UPSTREAM_REGION: 'cn-beijing', MEDIA_UPSTREAM_PROJECT: 'default' },
  }
  expect(problemsOf([one], { ...env, ...single })).toEqual(
    ['URL', 'KIND', 'REGION', 'PROJECT'].map(
      (name) => `MEDIA_UPSTREAM_${name} and MEDIA_UPSTREAMS must not both be set`,
    ),
  )
  const twice = [{ ...one, videoUrl: 'https://video.example', videoKeyEnv: 'TWO_VIDEO' }]
  const video = { VIDEO_UPSTREAM_URL: 'https://video.example', VIDEO_UPSTREAM_KEY: 'key-of-video' }
  expect(problemsOf(twice, { ...env, ...video })).toEqual([
    'VIDEO_UPSTREAM_URL and MEDIA_UPSTREAMS[0].videoUrl must not both be set',
  ])
  expect(problemsOf([one], { ...env, ...video })).toEqual([])
})

test('every problem of MEDIA_UPSTREAMS is reported, with the place of its fault', () => {
  for (const [accounts, problems] of [
    ['{}', [' must be a JSON list of accounts, or @ and the path of a file with one']],
    ['[]', [' must be a JSON list of accounts, or @ and the path of a file with one']],
    [[7], ['[0] must be an object', '[0].name is required', '[0].url is required', '[0].keyEnv is required']],
    [[one, { ...one, url: 'https://other.example' }], ['[1].name is that of another account']],
    [[{ ...one, name: 'a b' }], ['[0].name must be letters, digits, ., _ and -, at most 64 characters']],
    [[{ ...one, kind: 'none' }], ['[0].kind must be rest or ark']],
    [[{ ...one, slots: 0 }], ['[0].slots must be an integer from 1']],
    [
      [{ ...one, url: 'ftp://x' }],
      ['[0].url must be an absolute http or https address without credentials, query or fragment'],
    ],
    [
      [{ ...one, keyEnv: 'NONE' }],
      ['[0].keyEnv names a variable that is not set, or has other than printable ASCII characters without spaces'],
    ],
    [[{ ...one, key: 'x' }], ['[0].key must be given by keyEnv, the name of a variable']],
    [[{ ...one, region: 'x' }], ['[0].region is not a setting']],
    [[one, { ...two, videoUrl: undefined }], ['[1].videoUrl is required for a videoKeyEnv']],
    [[one, { ...two, videoKeyEnv: undefined }], ['[1].videoKeyEnv is required']],
  ] as const)
    expect(problemsOf(accounts, env)).toEqual(problems.map((problem) => `MEDIA_UPSTREAMS${problem}`))
})
