import { expect, test } from 'bun:test'
import { startDeno, startProgram } from './fixture.ts'

test('bytes are found at the same positions on Deno and Bun', async () => {
  const program = 'test/deno/byte-search.ts'
  const onDeno = await startDeno(['--no-prompt', program]).ended()
  const onBun = await startProgram([process.execPath, program]).ended()
  expect(onDeno).toEqual(onBun)
  expect(JSON.parse(onBun.output)).toEqual([[254, 510, 766], [128, 384, 640, 896], [156, 412, 668], [0, 1, 2], [5], []])
})
