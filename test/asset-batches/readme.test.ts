import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newGroup } from '../routes/fixture.ts'
import { ended, openBatchFixture, progressOf } from './fixture.ts'

test('the commands of the README create a batch, and show its progress and its outcomes', async () => {
  const readme = await readFile(new URL('../../plugins/asset-library/README.md', import.meta.url), 'utf8')
  const [, commands = ''] = /## Batches[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme) ?? []
  expect(commands.match(/curl/g)).toHaveLength(4)
  await using fixture = await openBatchFixture('sqlite')
  const { ann, gateway, emulator } = fixture
  const group = await newGroup(ann, 'places')
  const folder = await mkdtemp(join(tmpdir(), 'sluice-batch-'))
  try {
    const env = { ...process.env, SLUICE_TOKEN: ann.token, SLUICE_URL: gateway.url, GROUP: group }
    const shell = spawn('bash', ['-e', '-c', commands.replaceAll('\ncurl', '; echo\ncurl')], { cwd: folder, env })
    let output = ''
    shell.stdout.on('data', (chunk) => {
      output += chunk
    })
    await new Promise((resolve) => shell.on('close', resolve))
    const [created, progress, items, cancelled] = output
      .trim()
      .split(/\n+/)
      .map((line) => JSON.parse(line).Result)
    const id = created.Id
    expect([progress.Id, cancelled.Id, created.TotalCount]).toEqual([id, id, 2])
    expect(items.Items.map(({ Name }: { Name: string }) => Name)).toEqual(['beach', 'forest'])
    await ended(ann, id)
    const { Counts } = await progressOf(ann, id)
    expect([Counts.Created, Counts.Created + Counts.Cancelled]).toEqual([emulator.library.assets().length, 2])
  } finally {
    await rm(folder, { recursive: true })
  }
})
