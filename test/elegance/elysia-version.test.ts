import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { webSession } from 'sluice/web-session'
import { openaiVideosNamed, ownershipOf, pagesSignedBy, textNamed, tokensOf, videosNamed } from './fixture.ts'

test.each([
  ['apiToken', () => tokensOf('ann').plugin()],
  ['ownership', () => ownershipOf('ann')()],
  ['paginationNormalizer', () => pagesSignedBy('one')()],
  ['textGeneration', () => textNamed('one')],
  ['videoGeneration', () => videosNamed('one')],
  ['openaiVideos', () => openaiVideosNamed('one')],
  [
    'webSession',
    () => webSession({ store: {} as never, publicUrl: 'http://localhost', secrets: ['sixteen letters!'] }),
  ],
])('%s throws on Elysia 2, which would ignore its guard', (_name, create: () => unknown) => {
  const { resolve } = Elysia.prototype
  Reflect.deleteProperty(Elysia.prototype, 'resolve')
  try {
    expect(create).toThrow('sluice needs Elysia 1')
  } finally {
    Elysia.prototype.resolve = resolve
  }
  expect(create).not.toThrow()
})
