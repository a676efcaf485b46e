const names: Readonly<Record<string, string>> = {
  ...{ rs: 'resolution', resolution: 'resolution', rt: 'ratio', ratio: 'ratio', dur: 'duration', duration: 'duration' },
  ...{ frames: 'frames', seed: 'seed', cf: 'camera_fixed', camerafixed: 'camera_fixed' },
  ...{ wm: 'watermark', watermark: 'watermark' },
}

const pattern = /\s+--(\w+)[ =]+(\S+)/g

/**
 * The older form of parameters: `--rs 720p --dur 5` at the end of the prompt. Returns the prompt without them, and
 * their values.
 */
export const promptParameters = (text: string) => {
  const values: Record<string, unknown> = {}
  const prompt = ` ${text}`.replace(pattern, (whole: string, flag: string, value: string) => {
    const name = Object.hasOwn(names, flag) ? names[flag] : undefined
    if (name === undefined) return whole
    values[name] = /^-?\d+$/.test(value) ? Number(value) : value === 'true' || (value === 'false' ? false : value)
    return ''
  })
  return { prompt: prompt.trim(), values }
}
