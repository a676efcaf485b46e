import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { workerFlags } from '../../src/server/deno-flags.ts'
import { startS3Server } from '../support/s3-server.ts'
import { root } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { commandsOf, valuesOf, withValues } from './fixture.ts'

setDefaultTimeout(300_000)

test('the server on Deno stores files on S3, with the variables that its page says', async () => {
  const page = readFileSync(join(root, 'src/deno.md'), 'utf8')
  const [, variables = ''] = /on \*\*S3\*\*.*`--allow-env` also `([^`]+)`/.exec(page) ?? []
  expect(variables).not.toBe('')
  await using service = await startS3Server()
  await using fixture = await openServerFixture()
  const more = { '--allow-net': new URL(service.endpoint).host, '--allow-env': variables }
  const flags = withValues(commandsOf('src/server.ts')[0] ?? [], valuesOf(fixture)).map((flag) => {
    const further = more[flag.split('=')[0] as keyof typeof more]
    return further === undefined ? flag : `${flag},${further}`
  })
  const environment = {
    STORAGE_URL: `s3://${service.bucket}/files?endpoint=${service.endpoint}&region=${service.region}`,
    STORAGE_ACCESS_KEY: service.accessKey,
    STORAGE_SECRET_KEY: service.secretKey,
  }
  const server = await fixture.start(environment, 'deno', flags)
  const { token } = await fixture.addUser('ann')
  const body = new Uint8Array(9 * 2 ** 20)
  body.set([0, 0, 0, 24, ...Buffer.from('ftypisom')])
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${server.url}/api/uploads`, { method: 'POST', headers, body })
  const { upload } = (await response.json()) as { upload: { url: string } }
  expect(await (await fetch(upload.url)).bytes()).toEqual(body)
  expect([...service.objects.keys()]).toEqual([expect.stringMatching(/^files\/uploads\/up_\w+\.mp4$/)])
  expect([await server.kill('SIGTERM'), server.stderr()]).toEqual([0, ''])
})

test('a worker gets the permission for the host of the bucket', () => {
  const flagsFor = (STORAGE_URL: string) => {
    const config = readConfig({ STORAGE_URL, STORAGE_ACCESS_KEY: 'access', STORAGE_SECRET_KEY: 'secret' })
    if ('problems' in config) throw new Error(config.problems.join('\n'))
    const querySync = ({ host }: Readonly<Record<string, string>>) => ({
      state: host !== undefined && !host.includes('3000') ? 'granted' : 'prompt',
      partial: false,
    })
    return workerFlags(config, { querySync })
  }
  expect(flagsFor('s3://bucket?region=eu-west-1')).toEqual(['--allow-net=bucket.s3.eu-west-1.amazonaws.com:443'])
  expect(flagsFor('s3://bucket?style=path')).toEqual(['--allow-net=s3.us-east-1.amazonaws.com:443'])
  expect(flagsFor('s3://bucket?endpoint=http://minio.example:9000')).toEqual(['--allow-net=minio.example:9000'])
})
