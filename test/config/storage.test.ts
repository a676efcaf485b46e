import { expect, test } from 'bun:test'
import { type Config, readConfig } from '../../src/config.ts'

const valid = (env: Record<string, string>): Config => {
  const config = readConfig(env)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config
}
const problemsOf = (env: Record<string, string>): readonly string[] => {
  const config = readConfig(env)
  return 'problems' in config ? config.problems : []
}

test('a storage is a folder, a bucket or none', () => {
  const of = (STORAGE_URL: string) =>
    valid({ STORAGE_URL, STORAGE_ACCESS_KEY: 'access-key', STORAGE_SECRET_KEY: 'secret-key' }).storage
  expect(of('none')).toBeUndefined()
  expect(of('file:/srv/files')).toEqual({ kind: 'folder', path: '/srv/files' })
  expect(of('file:///srv/files')).toEqual({ kind: 'folder', path: '/srv/files' })
  const keys = { accessKey: 'access-key', secretKey: 'secret-key', timeoutMs: 80_000 }
  expect(of('s3://bucket')).toEqual({ kind: 's3', bucket: 'bucket', ...keys })
  expect(of('s3://a.b-1/p/?region=eu-west-1')).toEqual({
    ...{ kind: 's3', bucket: 'a.b-1', prefix: 'p/', region: 'eu-west-1' },
    ...keys,
  })
  for (const url of [
    'data/storage',
    'file:',
    's3://',
    's3://b',
    's3://bucket/../x?endpoint',
    's3://bucket?endpoint=minio:9000',
    's3://bucket?endpoint=http://minio:9000/path',
    's3://bucket?endpoint=http://user:password@minio:9000',
    's3://bucket?endpoint=file:///etc',
    's3://bucket?style=virtual',
    's3://bucket?acl=public',
    's3://key:secret@bucket',
    'https://bucket.s3.amazonaws.com',
  ]) {
    expect([url, problemsOf({ STORAGE_URL: url })]).toEqual([url, [expect.stringMatching(/^STORAGE_URL must be/)]])
  }
  expect(problemsOf({ STORAGE_URL: 's3://bucket', STORAGE_ACCESS_KEY: 'a key' })).toEqual([
    'STORAGE_ACCESS_KEY must be printable ASCII characters without spaces',
    'STORAGE_SECRET_KEY is required for a STORAGE_URL of S3',
  ])
})

test.each([
  ['STORAGE_TIMEOUT_SECONDS', ['0', '-1', '86401', '3s']],
  ['UPLOAD_HOURS', ['0', '8761', '1.5', 'x']],
  ['RESULT_DAYS', ['0', '36501', 'x']],
  ['EVENT_DAYS', ['0', '36501', 'x']],
  ['VIDEO_TASK_DAYS', ['0', 'x']],
  ['USER_MAX_UPLOADS', ['0', 'x']],
  ['USER_MAX_UPLOAD_BYTES', ['0', '2GB']],
  ['WEBHOOK_NETWORKS', ['localhost', '10.0.0.0/33', '10.0.0.1;10.0.0.2']],
] as const)('%s is validated', (name, values) => {
  for (const value of values)
    expect([value, problemsOf({ [name]: value })]).toEqual([
      value,
      [expect.stringMatching(new RegExp(`^${name} must be`))],
    ])
})

test('a range of days has the first day that is allowed', () => {
  expect(problemsOf({ AUDIT_DAYS: '-1', EVENT_DAYS: '0' })).toEqual([
    'AUDIT_DAYS must be an integer of days from 0 to 36500',
    'EVENT_DAYS must be an integer of days from 1 to 36500',
  ])
})
