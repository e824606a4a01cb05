// Pulumi loads a policy pack's TypeScript by a compiler of its own, which knows no `.ts` imports: so its door is
// JavaScript, and Node reads the rest.
import './pack.ts';
