import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

/** Why a text cannot stand in an address list; undefined where it can. */
function problem(text: string): string | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  const bits = prefix === undefined ? undefined : Number(prefix);
  const longest = family === 6 ? 128 : 32;
  if (family === 0 || address.includes('%') || rest.length > 0) return expected;
  if (bits !== undefined && (!/^(0|[1-9][0-9]{0,2})$/.test(prefix ?? '') || bits > longest)) return expected;
  const list = new BlockList();
  list.addSubnet(address, bits ?? longest, family === 6 ? 'ipv6' : 'ipv4');
  // Behind a proxy on the same machine every request comes from the loopback address: listing it would let
  // everyone in, and so would a network that holds it.
  if (list.check('127.0.0.1') || list.check('::1', 'ipv6') || /^(::ffff:)?127\./i.test(address)) {
    return 'an address list without the loopback address (it would let everyone in behind a local proxy)';
  }
  return undefined;
}

const expected = 'an IPv4 or IPv6 address or network such as 203.0.113.7 or 203.0.113.0/24';

/** One address or network (CIDR) for the Webhook node's list; the loopback address is refused. */
export const addressSchema = z.string().superRefine((text, context) => {
  const wrong = problem(text);
  if (wrong) context.addIssue({ code: 'custom', message: wrong });
});
