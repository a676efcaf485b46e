import { expect, test } from 'bun:test'
import type { Environment } from '../../src/config/environment/reader.ts'
import type { MediaSlotsConfig } from '../../src/config/media-slots.ts'
import { readConfig } from '../../src/config.ts'

const ark = {
  MEDIA_UPSTREAM_KIND: 'ark',
  MEDIA_UPSTREAM_URL: 'https://ark.example',
  MEDIA_UPSTREAM_ACCESS_KEY: 'access',
  MEDIA_UPSTREAM_SECRET_KEY: 'secret',
}

const slotsIn = (env: Environment): MediaSlotsConfig | undefined => {
  const config = readConfig(env)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config.media.slots
}

const problemsOf = (env: Environment): readonly string[] => {
  const config = readConfig(env)
  return 'problems' in config ? config.problems : []
}

test('a library that is larger than its slots needs a storage, and a number where no quota tells it', () => {
  expect(slotsIn({ ...ark, MEDIA_ASSET_SLOTS: 'quota' })).toEqual({ slots: 'quota', floor: 0 })
  const numbers = { MEDIA_ASSET_SLOTS: '50', MEDIA_ASSET_SLOTS_FLOOR: '5', MEDIA_ASSET_SLOTS_CAP: '20' }
  expect(slotsIn({ ...ark, ...numbers })).toEqual({ slots: 50, floor: 5, cap: 20 })
  expect(slotsIn(ark)).toBeUndefined()
  expect(problemsOf({ ...ark, ...numbers, MEDIA_ASSET_SLOTS_FLOOR: '21', STORAGE_URL: 'none' })).toEqual([
    'MEDIA_ASSET_SLOTS_CAP must not be below MEDIA_ASSET_SLOTS_FLOOR',
    'MEDIA_ASSET_SLOTS needs a storage: STORAGE_URL must not be none',
  ])
  for (const alone of [{ MEDIA_ASSET_SLOTS_FLOOR: '5' }, { MEDIA_ASSET_SLOTS_CAP: '20' }])
    expect(problemsOf({ ...ark, ...alone })).toEqual([
      'MEDIA_ASSET_SLOTS is required for MEDIA_ASSET_SLOTS_FLOOR and MEDIA_ASSET_SLOTS_CAP',
    ])
  const rest = { MEDIA_UPSTREAM_URL: 'http://u.example', MEDIA_UPSTREAM_KEY: 'key', MEDIA_ASSET_SLOTS: 'quota' }
  expect(problemsOf(rest)).toEqual(['MEDIA_ASSET_SLOTS must be a number for a MEDIA_UPSTREAM_URL of kind rest'])
  const accountsWith = (more: object) => ({
    MEDIA_UPSTREAMS: JSON.stringify([
      { name: 'one', kind: 'ark', url: 'https://ark.example', accessKeyEnv: 'ONE_KEY', secretKeyEnv: 'ONE_KEY' },
      { name: 'two', url: 'http://u.example', keyEnv: 'ONE_KEY', ...more },
    ]),
    ONE_KEY: 'key',
  })
  expect(slotsIn({ ...accountsWith({}), MEDIA_ASSET_SLOTS: '5' })).toEqual({ slots: 5, floor: 0 })
  expect(slotsIn({ ...accountsWith({ slots: 9 }), MEDIA_ASSET_SLOTS: 'quota' })).toEqual({ slots: 'quota', floor: 0 })
  expect(problemsOf({ ...accountsWith({}), MEDIA_ASSET_SLOTS: 'quota' })).toEqual([
    'MEDIA_UPSTREAMS[1].slots is required: the kind rest has no quota for MEDIA_ASSET_SLOTS',
  ])
})

test.each([
  ['MEDIA_ASSET_SLOTS', ['0', '-1', '1.5', 'many', 'QUOTA'], 'must be quota or an integer from 1'],
  ['MEDIA_ASSET_SLOTS_FLOOR', ['-1', 'x'], 'must be an integer from 0'],
  ['MEDIA_ASSET_SLOTS_CAP', ['0', 'x'], 'must be an integer from 1'],
])('%s is validated', (name, values, expected) => {
  for (const value of values) expect(problemsOf({ ...ark, [name]: value })).toEqual([`${name} ${expected}`])
})
